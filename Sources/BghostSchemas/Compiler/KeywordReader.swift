// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Reads the value of one keyword.
struct KeywordReader {
    let member: JSONMember
    let place: String

    /// Keywords of the specification that are not supported, with what to write instead.
    private static let unsupported: [String: String] = [
        "patternProperties": "name the properties, or use additionalProperties",
        "propertyNames": "name the properties, or use additionalProperties",
        "unevaluatedProperties": "use additionalProperties",
        "unevaluatedItems": "use items",
        "dependentRequired": "use anyOf with required",
        "dependentSchemas": "use anyOf",
        "if": "use anyOf", "then": "use anyOf", "else": "use anyOf",
        "contains": "use items", "minContains": "use minItems", "maxContains": "use maxItems",
        "contentSchema": "describe it in words",
        "$anchor": "use #/$defs/NAME", "$dynamicRef": "use $ref", "$dynamicAnchor": "use $ref",
        "$vocabulary": "leave it out", "definitions": "use $defs",
    ]

    private static let known = [
        "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems",
        "uniqueItems", "prefixItems", "items", "properties", "required", "additionalProperties",
        "minProperties", "maxProperties", "allOf", "anyOf", "oneOf", "not", "title",
        "description", "default", "examples", "$ref", "$defs",
    ]

    func error(_ message: String) -> SchemaError {
        SchemaError(place, message, at: member.value.span)
    }

    func unknown() -> SchemaError {
        let name = "`\(PrintableText.escaped(String(member.key.prefix(64))))`"
        let message: String
        if let instead = Self.unsupported[member.key] {
            message = "bghost does not support \(name); \(instead)"
        } else if let nearest = Spelling.nearest(to: member.key, among: Self.known) {
            message = "\(name) is no keyword; did you mean `\(nearest)`?"
        } else {
            message = "\(name) is no keyword of JSON Schema 2020-12; begin it with x- to keep it"
        }
        return SchemaError(place, message, at: member.keySpan)
    }

    // MARK: Types

    func object() throws(SchemaError) -> [JSONMember] {
        guard let members = member.value.object else { throw wanted("an object") }
        return members
    }

    func array() throws(SchemaError) -> [JSONNode] {
        guard let elements = member.value.array else { throw wanted("an array") }
        return elements
    }

    func text() throws(SchemaError) -> String {
        guard let text = member.value.string else { throw wanted("a string") }
        return text
    }

    private func flag() throws(SchemaError) -> Bool {
        guard let flag = member.value.bool else { throw wanted("true or false") }
        return flag
    }

    private func count() throws(SchemaError) -> Int {
        guard let count = member.value.uint64 else { throw wanted("a count of 0 or more") }
        return Int(clamping: count)
    }

    private func limit() throws(SchemaError) -> NumberRule.Limit {
        guard case .number(let text) = member.value.value else { throw wanted("a number") }
        return NumberRule.Limit(value: DecimalNumber(text), text: SchemaFault.brief(text))
    }

    private func wanted(_ type: String) -> SchemaError {
        error("\(type) is wanted, not \(member.value.typeName)")
    }

    // MARK: Keywords

    /// Reads a keyword that contains no schema.
    ///
    /// - Returns: whether it is one.
    func readPlain(
        into rule: inout SchemaRule,
        _ budget: inout SchemaBudget
    ) throws(SchemaError) -> Bool {
        switch member.key {
        case "type": rule.types = try types()
        case "enum": rule.allowed.append(try allowed(try array()))
        case "const": rule.allowed.append(try allowed([member.value]))
        default:
            if try readNumbers(into: &rule) { return true }
            if try readTexts(into: &rule, &budget) { return true }
            return try readContainers(into: &rule)
        }
        return true
    }

    private func types() throws(SchemaError) -> JSONTypes {
        var result: JSONTypes = []
        for node in member.value.array ?? [member.value] {
            guard let name = node.string else { throw wanted("a type or an array of types") }
            guard let type = JSONTypes(name: name) else {
                throw error(
                    "\(PrintableText.escaped(String(name.prefix(64))).debugDescription) is no type;"
                        + " use " + JSONTypes.named.map(\.name).joined(separator: ", ")
                )
            }
            result.insert(type)
        }
        guard !result.isEmpty else { throw error("it has no type in it") }
        return result
    }

    private func allowed(_ nodes: [JSONNode]) throws(SchemaError) -> AllowedValues {
        guard !nodes.isEmpty else { throw error("it has no value in it") }
        var phrase = nodes.prefix(8).map { SchemaFault.brief($0.text) }.joined(separator: ", ")
        if nodes.count > 8 { phrase += " and \(nodes.count - 8) more" }
        return AllowedValues(values: Set(nodes.map(CanonicalJSON.bytes)), phrase: phrase)
    }

    private func readNumbers(into rule: inout SchemaRule) throws(SchemaError) -> Bool {
        var numbers = rule.numbers ?? NumberRule()
        switch member.key {
        case "minimum": numbers.minimum = try limit()
        case "maximum": numbers.maximum = try limit()
        case "exclusiveMinimum": numbers.exclusiveMinimum = try limit()
        case "exclusiveMaximum": numbers.exclusiveMaximum = try limit()
        case "multipleOf":
            let limit = try limit()
            guard let divisor = DecimalDivisor(limit.value) else {
                throw error("a number above 0 with at most 18 digits is wanted")
            }
            numbers.multiple = (divisor, limit.text)
        default: return false
        }
        rule.numbers = numbers
        return true
    }

    private func readTexts(
        into rule: inout SchemaRule,
        _ budget: inout SchemaBudget
    ) throws(SchemaError) -> Bool {
        var texts = rule.texts ?? TextRule()
        switch member.key {
        case "minLength": texts.least = try count()
        case "maxLength": texts.most = try count()
        case "pattern":
            let text = try text()
            do throws(PatternFault) {
                texts.pattern = (try budget.pattern(text), SchemaFault.brief(text))
            } catch {
                throw self.error("the pattern cannot be used: \(error.reason)")
            }
        // The specification makes it a description for people unless a program can check it.
        case "format":
            guard let format = TextFormatRule(rawValue: try text()) else { return true }
            texts.format = format
        default: return false
        }
        rule.texts = texts
        return true
    }

    private func readContainers(into rule: inout SchemaRule) throws(SchemaError) -> Bool {
        switch member.key {
        case "minItems", "maxItems", "uniqueItems":
            var arrays = rule.arrays ?? ArrayRule()
            switch member.key {
            case "minItems": arrays.least = try count()
            case "maxItems": arrays.most = try count()
            default: arrays.isUnique = try flag()
            }
            rule.arrays = arrays
        case "required", "minProperties", "maxProperties":
            var objects = rule.objects ?? ObjectRule()
            switch member.key {
            case "minProperties": objects.least = try count()
            case "maxProperties": objects.most = try count()
            default: objects.required = try names()
            }
            rule.objects = objects
        default: return false
        }
        return true
    }

    private func names() throws(SchemaError) -> [String] {
        var names: [String] = []
        for node in try array() {
            guard let name = node.string else { throw error("an array of strings is wanted") }
            names.append(name)
        }
        return names
    }
}
