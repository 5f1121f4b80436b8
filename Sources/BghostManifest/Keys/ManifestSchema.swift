// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The JSON Schema (draft 2020-12) of `tasks.json`, for editors.
///
/// It is made from the same table as the reader's checks. It does not check references between
/// definitions, nor the formats of hosts and signatures; only the reader does.
enum ManifestSchema {
    /// The schema as text, indented, with a newline at its end.
    static func json() -> String {
        var members = [
            member("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            member("title", .string("tasks.json of bghost")),
        ]
        members += object(ManifestKeys.root)
        return JSONNode(.object(members)).indentedText + "\n"
    }

    private static func object(_ section: ManifestSection) -> [JSONMember] {
        let properties = section.keys.map { member($0.name, .object(property($0))) }
        let required = section.keys.filter(\.isRequired).map { JSONNode(.string($0.name)) }
        let free = [member("^(x-|\\$schema$)", .bool(true))]
        var members = [
            member("type", .string("object")),
            member("properties", .object(properties)),
            member("patternProperties", .object(free)),
            member("additionalProperties", .bool(false)),
        ]
        if !required.isEmpty { members.append(member("required", .array(required))) }
        if !section.alternatives.isEmpty {
            let choices = section.alternatives.map {
                JSONNode(.object([member("required", .array([JSONNode(.string($0))]))]))
            }
            members.append(member("oneOf", .array(choices)))
        }
        return members
    }

    private static func property(_ key: ManifestKey) -> [JSONMember] {
        var summary = key.summary
        switch key.type {
        case .duration, .flagOrDuration, .size, .share: summary += " It is \(key.type.needs)."
        case .reserved(let advice):
            summary += " This version cannot honour it yet: \(advice)."
        default: break
        }
        var members = [member("description", .string(summary))]
        // A default that is no JSON is a description, and is in the summary.
        if let text = key.defaultText, let value = try? JSONReader.parse(text) {
            members.append(JSONMember(key: "default", value: value))
        }
        return members + type(key.type)
    }

    private static func type(_ type: ManifestType) -> [JSONMember] {
        switch type {
        case .version: [member("const", .number(String(ManifestKeys.version)))]
        case .flag: [member("type", .string("boolean"))]
        case .whole(let range):
            [
                member("type", .string("integer")),
                member("minimum", .number(String(range.lowerBound))),
                member("maximum", .number(String(range.upperBound))),
            ]
        case .duration: string(pattern: QuantityNotation.duration.pattern)
        case .size: string(pattern: QuantityNotation.size.pattern)
        case .share: string(pattern: QuantityNotation.share.pattern)
        case .word(let words, _):
            [member("enum", .array(words.map { JSONNode(.string($0)) }))]
        case .text(let format): string(pattern: format.pattern)
        case .list(let format):
            [
                member("type", .string("array")),
                member("items", .object(string(pattern: format.pattern))),
            ]
        case .section(let section): object(section)
        case .sections(let section):
            [
                member("type", .string("array")),
                member("items", .object(object(section))),
            ]
        case .textsOrSections(let format, let section):
            [
                member("type", .string("array")),
                member(
                    "items",
                    .object([
                        member(
                            "anyOf",
                            .array([
                                JSONNode(.object(string(pattern: format.pattern))),
                                JSONNode(.object(object(section))),
                            ])
                        )
                    ])
                ),
            ]
        case .definitions(let section, let names): definitions(of: section, names)
        case .settings: [member("type", .string("object"))]
        case .flagOrSection(let section):
            [
                member(
                    "anyOf",
                    .array([
                        JSONNode(.object([member("type", .string("boolean"))])),
                        JSONNode(.object(object(section))),
                    ])
                )
            ]
        case .flagOrDuration:
            [
                member(
                    "anyOf",
                    .array([
                        JSONNode(.object([member("type", .string("boolean"))])),
                        JSONNode(.object(string(pattern: QuantityNotation.duration.pattern))),
                    ])
                )
            ]
        case .wordOrSection(let words, let section):
            [
                member(
                    "anyOf",
                    .array([
                        JSONNode(
                            .object([
                                member("enum", .array(words.map { JSONNode(.string($0)) }))
                            ])
                        ),
                        JSONNode(.object(object(section))),
                    ])
                )
            ]
        case .reserved: [member("not", .object([]))]
        }
    }

    private static func definitions(
        of section: ManifestSection,
        _ names: TextFormat
    ) -> [JSONMember] {
        let entries = [member(names.pattern ?? "", .object(object(section)))]
        return [
            member("type", .string("object")),
            member("patternProperties", .object(entries)),
            member("additionalProperties", .bool(false)),
        ]
    }

    private static func string(pattern: String?) -> [JSONMember] {
        let type = member("type", .string("string"))
        guard let pattern else { return [type, member("minLength", .number("1"))] }
        return [type, member("pattern", .string(pattern))]
    }

    private static func member(_ key: String, _ value: JSONValue) -> JSONMember {
        JSONMember(key: key, value: JSONNode(value))
    }
}
