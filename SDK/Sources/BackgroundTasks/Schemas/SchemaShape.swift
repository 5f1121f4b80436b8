// SPDX-License-Identifier: Apache-2.0

/// What is known of a value that a type decodes: a part of a JSON Schema.
final class SchemaShape {
    enum Kind: Equatable {
        /// Nothing was decoded yet.
        case unknown
        /// It was decoded in several ways, so every value may fit.
        case any
        case object
        case array
        /// Members of a schema without `type`, such as `"minimum":0`, and the type.
        case scalar(type: String, rest: String)
        /// The values as JSON.
        case choice([String])
    }

    private(set) var kind = Kind.unknown
    var isRequired = true
    var isNullable = false
    private(set) var members: [(key: String, shape: SchemaShape)] = []
    private(set) var element: SchemaShape?

    func note(_ other: Kind) {
        if kind == .unknown { kind = other }
        if kind != other { forget() }
    }

    /// Gives up what is known: every value may fit.
    func forget() {
        kind = .any
        members = []
        element = nil
    }

    func member(_ key: String) -> SchemaShape {
        if let known = members.first(where: { $0.key == key }) { return known.shape }
        let shape = SchemaShape()
        members.append((key, shape))
        return shape
    }

    func elements() -> SchemaShape {
        if let element { return element }
        let shape = SchemaShape()
        element = shape
        return shape
    }

    /// The shape at a path; `nil` if what is above it was given up.
    func find(_ path: ArraySlice<String>) -> SchemaShape? {
        guard let first = path.first else { return self }
        let child =
            first == SchemaRecorder.elementKey
            ? element : members.first { $0.key == first }?.shape
        return child?.find(path.dropFirst())
    }

    /// The paths of all shapes below this one.
    func paths(_ prefix: [String] = []) -> [[String]] {
        var children = members
        if let element { children.append((SchemaRecorder.elementKey, element)) }
        return children.flatMap { key, shape in
            [prefix + [key]] + shape.paths(prefix + [key])
        }
    }

    /// The schema, as JSON.
    var json: String {
        switch kind {
        case .unknown, .any: return "{}"
        case .choice(let values):
            let all = isNullable ? values + ["null"] : values
            return #"{"enum":["# + all.joined(separator: ",") + "]}"
        case .scalar(let type, let rest):
            return "{" + typeText(type) + (rest.isEmpty ? "" : "," + rest) + "}"
        case .array:
            let items = element.map { #","items":"# + $0.json } ?? ""
            return "{" + typeText("array") + items + "}"
        case .object:
            var parts = [typeText("object")]
            if !members.isEmpty {
                let properties = members.map { Self.quoted($0.key) + ":" + $0.shape.json }
                parts.append(#""properties":{"# + properties.joined(separator: ",") + "}")
            }
            let required = members.filter(\.shape.isRequired).map { Self.quoted($0.key) }
            if !required.isEmpty {
                parts.append(#""required":["# + required.joined(separator: ",") + "]")
            }
            return "{" + parts.joined(separator: ",") + "}"
        }
    }

    private func typeText(_ type: String) -> String {
        #""type":"# + (isNullable ? #"[""# + type + #"","null"]"# : #"""# + type + #"""#)
    }

    /// Whether a character must be escaped: the host refuses tables with these.
    private static func isEscaped(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where isEscaped(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
