// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The description of one manifest key, from which both the reader's checks and the JSON Schema are
/// made.
struct ManifestKey: Sendable {
    var name: String
    var type: ManifestType
    var isRequired: Bool
    /// The default value, as JSON; `nil` if there is none.
    var defaultText: String?
    /// One sentence without Markdown links, which editors show.
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

/// The type of a key's value.
indirect enum ManifestType: Sendable {
    /// The version of the format.
    case version
    case flag
    case whole(ClosedRange<Int64>)
    /// In milliseconds.
    case duration(ClosedRange<UInt64>)
    /// In bytes.
    case size(ClosedRange<UInt64>)
    /// In hundredths.
    case share(ClosedRange<UInt64>)
    /// One of the words; `reserved` words belong to the format but are not supported yet.
    case word([String], reserved: [String])
    case text(TextFormat)
    case list(of: TextFormat)
    case section(ManifestSection)
    /// A list of objects.
    case sections(of: ManifestSection)
    /// A list of texts and objects.
    case textsOrSections(of: TextFormat, ManifestSection)
    /// Definitions by name.
    case definitions(of: ManifestSection, names: TextFormat)
    /// The plugin's own settings, an object that may contain secrets.
    case settings
    /// True, false or a section.
    case flagOrSection(ManifestSection)
    /// True, false or a duration in milliseconds.
    case flagOrDuration(ClosedRange<UInt64>)
    /// One of the words, or a section.
    case wordOrSection([String], ManifestSection)
    /// The key belongs to the format but is not supported yet; the text says what to use instead.
    case reserved(advice: String)
}

/// An object with known keys.
struct ManifestSection: Sendable {
    /// The name of one such object in messages: "plugin".
    var noun: String
    var keys: [ManifestKey]
    /// An object must have exactly one of these keys; no rule if empty.
    var alternatives: [String] = []

    func key(_ name: String) -> ManifestKey? { keys.first { $0.name.isSameText(as: name) } }

    /// Whether a key outside the table may have any value.
    ///
    /// This does not apply to the names of definitions: the reader must not silently ignore a task
    /// that starts with `x-`.
    static func isFree(_ name: String) -> Bool { name == "$schema" || name.hasPrefix("x-") }
}

extension ManifestType {
    /// The kind of value that the key needs, for messages.
    var needs: String {
        switch self {
        case .version: return "the number \(ManifestKeys.version)"
        case .flag: return "true or false"
        case .whole(let range):
            return "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range):
            return "a duration from " + QuantityNotation.duration.describe(range)
        case .flagOrDuration(let range):
            return "true, false or " + ManifestType.duration(range).needs
        case .size(let range): return "a size from " + QuantityNotation.size.describe(range)
        case .share(let range): return "a share from " + QuantityNotation.share.describe(range)
        case .word(let words, _):
            let quoted = words.map { "\"\($0)\"" }
            let last = quoted.last ?? ""
            return quoted.count > 1
                ? quoted.dropLast().joined(separator: ", ") + " or " + last : last
        case .text(let format): return format.noun + ", as a string"
        case .list: return "an array of strings"
        case .sections: return "an array of objects"
        case .textsOrSections: return "an array of strings and objects"
        case .section, .definitions, .settings: return "an object"
        case .flagOrSection: return "true, false or an object"
        case .wordOrSection(let words, _):
            return ManifestType.word(words, reserved: []).needs + ", or an object"
        case .reserved: return "any value"
        }
    }
}

extension QuantityNotation {
    func describe(_ range: ClosedRange<UInt64>) -> String {
        "\(describe(range.lowerBound)) to \(describe(range.upperBound))"
    }
}
