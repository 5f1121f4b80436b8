// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension SignatureParser {
    /// Parses a type with a value.
    mutating func type(depth: Int) throws(SignatureError) -> ForeignType {
        if next.isMark("{") { return try structure(depth: depth + 1) }
        guard case .word(let word) = next.kind else {
            throw SignatureError(next.column, "a type is needed here, not \(next.shown)")
        }
        if let scalar = ScalarType(rawValue: word) {
            position += 1
            return .scalar(scalar)
        }
        switch word {
        case "pointer":
            position += 1
            return .pointer
        case "string":
            position += 1
            return .string(owned: false)
        case "owned":
            position += 1
            guard consume(word: "string") else {
                throw SignatureError(
                    next.column,
                    "only a `string` can be `owned`, not \(next.shown)"
                )
            }
            return .string(owned: true)
        default:
            throw SignatureError(next.column, Self.message(forUnknownType: word))
        }
    }

    private mutating func structure(depth: Int) throws(SignatureError) -> ForeignType {
        let column = next.column
        guard depth <= SignatureLimits.structureDepth else {
            throw SignatureError(
                column,
                "structs are nested deeper than \(SignatureLimits.structureDepth) levels"
            )
        }
        position += 1
        var fields: [StructureField] = []
        guard !next.isMark("}") else {
            throw SignatureError(column, "a struct needs a member, such as `{x: int}`")
        }
        repeat {
            let fieldColumn = next.column
            let field = try member(depth: depth)
            if let first = fields.first, (first.name == nil) != (field.name == nil) {
                throw SignatureError(fieldColumn, "either all members have names or none has")
            }
            if let name = field.name, fields.contains(where: { $0.name == name }) {
                throw SignatureError(fieldColumn, "the struct has two members named `\(name)`")
            }
            fields.append(field)
            guard fields.count <= SignatureLimits.structureFields else {
                throw SignatureError(
                    fieldColumn,
                    "the struct has more than \(SignatureLimits.structureFields) members"
                )
            }
        } while consume(",")
        try expect("}", "or `,` after a member")
        return .structure(fields)
    }

    private mutating func member(depth: Int) throws(SignatureError) -> StructureField {
        var name: String?
        if case .word(let word) = next.kind, tokens[position + 1].isMark(":") {
            name = word
            position += 2
        }
        let column = next.column
        guard !next.isWord("bytes"), !next.isWord("out"), !next.isWord("inout") else {
            throw SignatureError(
                column,
                "members of a struct are scalars, `string`, `pointer` or structs, not \(next.shown)"
            )
        }
        let type = try type(depth: depth)
        guard type != .string(owned: true) else {
            throw SignatureError(column, "a member of a struct cannot be `owned`")
        }
        return StructureField(name: name, type: type)
    }

    // MARK: - Spelling

    private static let words =
        ScalarType.allCases.map(\.rawValue) + [
            "void", "pointer", "string", "bytes", "out", "inout", "owned", "done", "cancelled",
        ]

    /// Names of C and other languages for types with another name here.
    private static let foreignNames: [String: String] = [
        "size_t": "size", "ssize_t": "ssize", "intptr_t": "intptr", "uintptr_t": "uintptr",
        "int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16",
        "int32_t": "int32", "uint32_t": "uint32", "int64_t": "int64", "uint64_t": "uint64",
        "_Bool": "bool", "boolean": "bool", "byte": "uchar", "off_t": "long", "time_t": "long",
        "pid_t": "int", "mode_t": "uint", "uid_t": "uint", "gid_t": "uint", "str": "string",
        "String": "string", "Int": "long", "UInt": "ulong", "Double": "double", "Float": "float",
        "ptr": "pointer", "buffer": "bytes", "handle": "pointer",
    ]

    static func message(forUnknownType word: String) -> String {
        switch word {
        case "void":
            return "`void` is a result only; a `void *` is written `pointer` or `bytes`"
        case "unsigned", "signed":
            return "`\(word)` is part of a name here: write `uint`, `ulong`, `uchar` or `schar`"
        case "const", "volatile", "restrict", "struct", "enum", "union":
            return "leave out `\(word)`: write the type alone, `string` for a `const char *`, "
                + "`{int, double}` for a struct"
        case "bytes", "out", "inout", "done", "cancelled":
            return "`\(word)` belongs to an argument, not here"
        default: break
        }
        let meant = foreignNames[word] ?? Spelling.nearest(to: word, among: words)
        let question = meant.map { "; did you mean `\($0)`?" } ?? ""
        return "there is no type `\(word)`" + question
    }
}
