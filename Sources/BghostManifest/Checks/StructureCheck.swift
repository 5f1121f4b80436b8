// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Checks the structure of one file against the table of keys: its keys and the types of their
/// values.
///
/// It knows nothing of other files. `ManifestBuilder` uses what it accepts without further checks.
struct StructureCheck {
    let source: ManifestSource
    let collector: DiagnosticCollector
    let signatureProblem: (String) -> String?

    /// A place in the manifest, for messages: "in plugin `x`, section `limits`".
    struct Context {
        var text: String

        static let top = Context(text: "at the top level")

        static func definition(_ section: ManifestSection, _ name: String) -> Context {
            Context(text: "in \(section.noun) \(name.quoted)")
        }

        func inner(_ section: ManifestSection) -> Context {
            Context(text: text == Self.top.text ? "in \(section.noun)" : "\(text), \(section.noun)")
        }
    }

    func checkFile() {
        let start = source.span.start
        let brace = ByteSpan(start: start, end: start + 1)
        check(source.members, as: ManifestKeys.root, in: .top, anchor: brace)
    }

    // MARK: - Objects

    private func check(
        _ members: [JSONMember],
        as section: ManifestSection,
        in context: Context,
        anchor: ByteSpan
    ) {
        var seen: [[UInt8]: ByteSpan] = [:]
        for member in members {
            if let first = seen[Array(member.key.utf8)] {
                reportDuplicate(member, first: first, in: context)
                continue
            }
            seen[Array(member.key.utf8)] = member.keySpan
            if ManifestSection.isFree(member.key) { continue }
            guard let key = section.key(member.key) else {
                reportUnknown(member, in: section, context)
                continue
            }
            if source.isDropIn, context.text == Context.top.text, key.name == "host" {
                report(
                    .notInDropIn,
                    at: member.keySpan,
                    "`host` stands in a drop-in",
                    help: "move it into the main file"
                )
                continue
            }
            check(member, as: key.type, in: context)
        }
        for key in section.keys where key.isRequired && seen[Array(key.name.utf8)] == nil {
            // The main file's version applies to all drop-ins.
            if source.isDropIn, key.name == "version" { continue }
            report(
                .missingKey,
                at: anchor,
                "\(key.name.quoted) is missing \(context.text)",
                help: "add \(example(of: key))"
            )
        }
    }

    private func example(of key: ManifestKey) -> String {
        switch key.type {
        case .version: "`\"version\": \(ManifestKeys.version)`"
        case .flag: "`\"\(key.name)\": true`"
        default: "\(key.name.quoted): \(key.summary)"
        }
    }

    private func checkDefinitions(
        _ members: [JSONMember],
        of section: ManifestSection,
        names: TextFormat
    ) {
        for member in members {
            if let fault = names.fault(in: member.key) {
                report(
                    fault.code,
                    at: member.keySpan,
                    "\(member.key.quoted) cannot name a \(section.noun): \(fault.reason)",
                    label: fault.label,
                    help: names.rule
                )
            }
            let context = Context.definition(section, member.key)
            guard let fields = member.value.object else {
                report(
                    .wrongType,
                    at: member.value.span,
                    "\(section.noun) \(member.key.quoted) is \(member.value.typeName)",
                    label: "an object is needed"
                )
                continue
            }
            check(fields, as: section, in: context, anchor: member.keySpan)
        }
    }

    /// Reports duplicate keys in a plugin's settings; bghost does not know which keys are valid
    /// there.
    private func checkDuplicates(in node: JSONNode, _ context: Context) {
        switch node.value {
        case .array(let elements):
            for element in elements { checkDuplicates(in: element, context) }
        case .object(let members):
            var seen: [[UInt8]: ByteSpan] = [:]
            for member in members {
                if let first = seen.updateValue(member.keySpan, forKey: Array(member.key.utf8)) {
                    reportDuplicate(member, first: first, in: context)
                }
                checkDuplicates(in: member.value, context)
            }
        default: break
        }
    }

    // MARK: - Values

    private func check(_ member: JSONMember, as type: ManifestType, in context: Context) {
        let node = member.value
        switch type {
        case .reserved(let advice):
            report(
                .notHonoured,
                at: member.keySpan,
                """
                \(member.key.quoted) \(context.text) is part of the format, but this version \
                cannot honour it yet
                """,
                help: advice
            )
        case .section(let section):
            guard let members = node.object else { break }
            let anchor = member.keySpan
            return check(members, as: section, in: context.inner(section), anchor: anchor)
        case .sections(let section):
            guard let elements = node.array else { break }
            return check(elements, as: section, in: context, anchor: member.keySpan)
        case .textsOrSections(let format, let section):
            guard let elements = node.array else { break }
            for element in elements {
                if element.object != nil {
                    check([element], as: section, in: context, anchor: element.span)
                } else {
                    let item = JSONMember(key: member.key, keySpan: member.keySpan, value: element)
                    checkScalar(item, as: .text(format), in: context)
                }
            }
            return
        case .flagOrSection(let section), .wordOrSection(_, let section):
            guard let members = node.object else {
                return checkScalar(member, as: type, in: context)
            }
            let anchor = member.keySpan
            return check(members, as: section, in: context.inner(section), anchor: anchor)
        case .definitions(let section, let names):
            guard let members = node.object else { break }
            return checkDefinitions(members, of: section, names: names)
        case .settings:
            guard node.object != nil else { break }
            let inner = "\(context.text), section \(member.key.quoted)"
            return checkDuplicates(in: node, Context(text: inner))
        case .list(let format):
            guard let elements = node.array else { break }
            for element in elements {
                let item = JSONMember(key: member.key, keySpan: member.keySpan, value: element)
                checkScalar(item, as: .text(format), in: context)
            }
            return
        default: return checkScalar(member, as: type, in: context)
        }
        if case .reserved = type { return }
        reportWrongType(member, type, context)
    }

    /// Checks the elements of a list of objects.
    private func check(
        _ elements: [JSONNode],
        as section: ManifestSection,
        in context: Context,
        anchor: ByteSpan
    ) {
        for element in elements {
            guard let members = element.object else {
                report(
                    .wrongType,
                    at: element.span,
                    "a \(section.noun) \(context.text) is \(element.typeName)",
                    label: "an object is needed"
                )
                continue
            }
            check(members, as: section, in: context.inner(section), anchor: anchor)
        }
    }

    private func checkScalar(_ member: JSONMember, as type: ManifestType, in context: Context) {
        switch (type, member.value.value) {
        case (.flag, .bool), (.flagOrSection, .bool), (.flagOrDuration, .bool): break
        case (.version, .number): checkVersion(member)
        case (.whole(let range), .number): checkWhole(member, range, context)
        case (.duration(let range), .string(let text)),
            (.flagOrDuration(let range), .string(let text)):
            checkQuantity(text, .duration, .badDuration, range, member, type, context)
        case (.size(let range), .string(let text)):
            checkQuantity(text, .size, .badSize, range, member, type, context)
        case (.share(let range), .string(let text)):
            checkQuantity(text, .share, .badShare, range, member, type, context)
        case (.share, .number): reportBareNumber(member, .share, context)
        case (.duration, .number), (.flagOrDuration, .number):
            reportBareNumber(member, .duration, context)
        case (.size, .number): reportBareNumber(member, .size, context)
        case (.word(let words, let reserved), .string(let text)):
            checkWord(text, words, reserved, member, context)
        case (.wordOrSection(let words, _), .string(let text)):
            checkWord(text, words, [], member, context)
        case (.text(let format), .string(let text)): checkText(text, format, member, context)
        default: reportWrongType(member, type, context)
        }
    }

    private func checkVersion(_ member: JSONMember) {
        guard member.value.int64 != ManifestKeys.version else { return }
        report(
            .unsupportedVersion,
            at: member.value.span,
            "the manifest has version \(member.value.text), which this program does not know",
            label: "\(ManifestKeys.version) is needed"
        )
    }

    private func checkWhole(
        _ member: JSONMember,
        _ range: ClosedRange<Int64>,
        _ context: Context
    ) {
        if let number = member.value.int64, range.contains(number) { return }
        report(
            .outOfRange,
            at: member.value.span,
            "\(member.key.quoted) \(context.text) is out of range",
            label: ManifestType.whole(range).needs + " is needed"
        )
    }

    private func checkQuantity(
        _ text: String,
        _ notation: QuantityNotation,
        _ code: DiagnosticCode,
        _ range: ClosedRange<UInt64>,
        _ member: JSONMember,
        _ type: ManifestType,
        _ context: Context
    ) {
        let subject = "\(member.key.quoted) \(context.text)"
        do throws(QuantityFault) {
            let amount = try notation.parse(text)
            guard !range.contains(amount) else { return }
            report(
                .outOfRange,
                at: member.value.span,
                "\(subject) is out of range",
                label: "\(type.needs) is needed"
            )
        } catch {
            report(
                code,
                at: member.value.span,
                "\(subject) is not \(notation.noun): \(error.reason)",
                label: error.suggestion.map { "did you mean \"\($0)\"?" }
                    ?? "\(type.needs) is needed"
            )
        }
    }

    private func checkWord(
        _ text: String,
        _ words: [String],
        _ reserved: [String],
        _ member: JSONMember,
        _ context: Context
    ) {
        if words.contains(where: { $0.isSameText(as: text) }) { return }
        let needs = ManifestType.word(words, reserved: []).needs
        guard !reserved.contains(where: { $0.isSameText(as: text) }) else {
            report(
                .notHonoured,
                at: member.value.span,
                """
                \(text.quoted) as \(member.key.quoted) \(context.text) is part of the format, but \
                this version cannot honour it yet
                """,
                label: "\(needs) is needed"
            )
            return
        }
        let near = Spelling.nearest(to: text, among: words)
        report(
            .unknownWord,
            at: member.value.span,
            "invalid value \(text.quoted) for \(member.key.quoted) \(context.text)",
            label: near.map { "did you mean \"\($0)\"?" } ?? "\(needs) is needed"
        )
    }

    private func checkText(
        _ text: String,
        _ format: TextFormat,
        _ member: JSONMember,
        _ context: Context
    ) {
        let subject = "\(member.key.quoted) \(context.text)"
        if let fault = format.fault(in: text) {
            report(
                fault.code,
                at: member.value.span,
                "\(text.quoted) is no \(format.shortNoun) for \(subject): \(fault.reason)",
                label: fault.label
            )
        }
        if case .signature = format, let problem = signatureProblem(text) {
            report(
                .badSignature,
                at: member.value.span,
                "\(subject) cannot be read: \(problem)"
            )
        }
    }
}
