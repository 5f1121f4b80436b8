// SPDX-License-Identifier: Apache-2.0

/// A measure of the machine, as read by a source.
package struct FactReading: Equatable, Sendable {
    /// The reader, where two may measure the same requirement.
    ///
    /// A requirement is met if it is met according to all origins.
    package enum Origin: Int, Sendable, CaseIterable {
        case machine
        case ups
    }

    /// The measured requirements.
    var requirement: RequirementSet
    var origin: Origin
    package var measure: FactMeasure
    /// The reading as short text, such as `online=0`.
    package private(set) var text: String
    /// The source of the reading.
    private(set) var source: String

    /// Creates a reading; the texts are untrusted, so they are shortened, and control characters are
    /// replaced.
    package init(
        _ requirement: RequirementSet,
        _ measure: FactMeasure,
        text: String,
        source: String,
        origin: Origin = .machine
    ) {
        self.requirement = requirement
        self.origin = origin
        self.measure = measure
        self.text = Self.plain(text)
        self.source = Self.plain(source)
    }

    /// The most characters of a text.
    static let textMax = 160

    private static func plain(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard result.count < textMax else {
                result.append("…")
                break
            }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
                result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

/// A measure of the machine, before any rule is applied.
package enum FactMeasure: Equatable, Sendable {
    /// It cannot be measured.
    case unknown
    /// Whether the condition is met.
    case state(Bool)
    /// The charge of the battery, 0 to 100 per cent.
    case charge(percent: Double)
    /// The share of the last ten seconds in which tasks waited for a resource, 0 to 100 per cent.
    case pressure(cpu: Double, io: Double)
    /// The number of runnable processes per processor.
    case load(perProcessor: Double)
    /// The free space of a file system.
    case space(percent: Double, bytes: UInt64)
}
