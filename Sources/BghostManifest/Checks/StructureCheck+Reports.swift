// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension StructureCheck {
    func report(
        _ code: DiagnosticCode,
        at span: ByteSpan,
        _ message: @autoclosure () -> String,
        label: @autoclosure () -> String? = nil,
        help: @autoclosure () -> String? = nil
    ) {
        collector.report(code, at: span, in: source, message(), label: label(), help: help())
    }

    func reportDuplicate(_ member: JSONMember, first: ByteSpan, in context: Context) {
        collector.report(
            .duplicateKey,
            at: member.keySpan,
            in: source,
            "the key \(member.key.quoted) stands twice \(context.text)",
            help: "remove one of the two",
            notes: [Diagnostic.Note("it stands here first", at: .init(first, in: source.text))]
        )
    }

    func reportUnknown(_ member: JSONMember, in section: ManifestSection, _ context: Context) {
        let known = section.keys.filter {
            if case .reserved = $0.type { false } else { true }
        }
        report(
            .unknownKey,
            at: member.keySpan,
            "unknown key \(member.key.quoted) \(context.text)",
            label: Self.otherNumber(of: member.key, among: known.map(\.name))
                .map { "did you mean `\($0)`?" }
                ?? Self.home(of: member.key, below: section)
                ?? Spelling.nearest(to: member.key, among: known.map(\.name))
                .map { "did you mean `\($0)`?" },
            help: "known here: " + known.map(\.name).joined(separator: ", ")
        )
    }

    /// A known key that is the plural or the singular of the written one.
    private static func otherNumber(of key: String, among known: [String]) -> String? {
        let word = key.lowercased()
        return known.first { name in
            let other = name.lowercased()
            return other != word && (other == word + "s" || other + "s" == word)
        }
    }

    /// The section that a key belongs to if the user wrote it one level too high.
    private static func home(of name: String, below section: ManifestSection) -> String? {
        for key in section.keys {
            guard case .section(let inner) = key.type, inner.key(name) != nil else { continue }
            return "move it into `\(key.name)`"
        }
        return nil
    }

    func reportWrongType(_ member: JSONMember, _ type: ManifestType, _ context: Context) {
        report(
            .wrongType,
            at: member.value.span,
            "\(member.key.quoted) \(context.text) is \(member.value.typeName)",
            label: "\(type.needs) is needed"
        )
    }

    func reportBareNumber(
        _ member: JSONMember,
        _ notation: QuantityNotation,
        _ context: Context
    ) {
        let isBytes = notation.usualUnit == "B"
        let suggestion = member.value.uint64.map {
            isBytes ? notation.describe($0) : "\($0)\(notation.usualUnit)"
        }
        report(
            .bareNumber,
            at: member.value.span,
            "\(member.key.quoted) \(context.text) is a number without a unit",
            label: "write \"\(suggestion ?? notation.example)\"",
            help: "the units are " + notation.units.map(\.name).joined(separator: ", ")
        )
    }
}
