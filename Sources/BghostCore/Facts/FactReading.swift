// SPDX-License-Identifier: Apache-2.0

/// What a source has read of the machine.
package struct FactReading: Equatable, Sendable {
    /// Who reads, where two may speak of the same requirement.
    ///
    /// They do not overrule one another: a requirement holds if it holds for all of them.
    package enum Origin: Int, Sendable, CaseIterable {
        case machine
        case ups
    }

    /// What it is about.
    package var requirement: RequirementSet
    package var origin: Origin
    package var measure: FactMeasure
    /// What was read as short text, such as `online=0`.
    package private(set) var text: String
    /// Where it was read.
    package private(set) var source: String

    /// The texts may be anybody's: they are cut, and what could move a terminal's cursor is taken out.
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
    package static let textMax = 160

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
    /// It cannot be told.
    case unknown
    /// It is so or not.
    case state(Bool)
    /// How full the battery is, 0 ... 100.
    case charge(percent: Double)
    /// The share of the last ten seconds in which something waited for a resource, 0 ... 100.
    case pressure(cpu: Double, io: Double)
    /// The processes that want to run, for each processor.
    case load(perProcessor: Double)
    /// What is free of a file system.
    case space(percent: Double, bytes: UInt64)
}
