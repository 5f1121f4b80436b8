// SPDX-License-Identifier: Apache-2.0

/// One key of the manifest: the only description of it, from which the reader's checks and the JSON
/// Schema are made.
struct ManifestKey: Sendable {
    var name: String
    var type: ManifestType
    var isRequired: Bool
    /// What it is if it is not written, as JSON.
    var defaultText: String?
    /// One sentence without Markdown links, shown by editors.
    var summary: String

    init(
        _ name: String,
        _ type: ManifestType,
        required isRequired: Bool = false,
        default defaultText: String? = nil,
        _ summary: String
    ) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.defaultText = defaultText
        self.summary = summary
    }
}

/// What the value of a key may be.
indirect enum ManifestType: Sendable {
    /// The number of the format.
    case version
    case flag
    case whole(ClosedRange<Int64>)
    /// In milliseconds.
    case duration(ClosedRange<UInt64>)
    /// In bytes.
    case size(ClosedRange<UInt64>)
    /// In hundredths.
    case share(ClosedRange<UInt64>)
    /// One of the words; reserved ones are part of the format and not honoured yet.
    case word([String], reserved: [String])
    case text(TextFormat)
    case list(of: TextFormat)
    case section(ManifestSection)
    /// Things by name.
    case definitions(of: ManifestSection, names: TextFormat)
    /// An object of the plugin's own, in which secrets may stand.
    case settings
    /// True, false or a section.
    case flagOrSection(ManifestSection)
    /// Part of the format, but not honoured yet; the text says what to do instead.
    case reserved(advice: String)
}

/// An object with known keys.
struct ManifestSection: Sendable {
    /// What one such object is called: "plugin".
    var noun: String
    var keys: [ManifestKey]
    /// Of these keys one object has one and no more.
    var alternatives: [String] = []

    func key(_ name: String) -> ManifestKey? { keys.first { $0.name.isSameText(as: name) } }

    /// Whether anything may stand under a key that is not in the table.
    ///
    /// Among definitions no key is free: a task that begins with `x-` must not be passed over in silence.
    static func isFree(_ name: String) -> Bool { name == "$schema" || name.hasPrefix("x-") }
}

extension ManifestType {
    /// What the key needs, for messages.
    var needs: String {
        switch self {
        case .version: return "the number \(ManifestKeys.version)"
        case .flag: return "true or false"
        case .whole(let range):
            return "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range):
            return "a duration from " + QuantityNotation.duration.describe(range)
        case .size(let range): return "a size from " + QuantityNotation.size.describe(range)
        case .share(let range): return "a share from " + QuantityNotation.share.describe(range)
        case .word(let words, _):
            let quoted = words.map { "\"\($0)\"" }
            let last = quoted.last ?? ""
            return quoted.count > 1
                ? quoted.dropLast().joined(separator: ", ") + " or " + last : last
        case .text(let format): return format.noun + ", as a string"
        case .list: return "an array of strings"
        case .section, .definitions, .settings: return "an object"
        case .flagOrSection: return "true, false or an object"
        case .reserved: return "any value"
        }
    }
}

extension QuantityNotation {
    func describe(_ range: ClosedRange<UInt64>) -> String {
        "\(describe(range.lowerBound)) to \(describe(range.upperBound))"
    }
}
