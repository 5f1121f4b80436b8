// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport

/// What the sources of `BghostAPI` say of its types: their comments, and the keys of their properties.
struct TypeSources {
    private struct Source {
        var comment: String?
        var properties: [String: String] = [:]
        var keys: [String: String] = [:]
    }

    private var types: [String: Source] = [:]

    init() throws {
        for folder in ["Types", "Records"] {
            let path = PackageRoot.path + "/Sources/BghostAPI/" + folder
            for name in try File.list(path).sorted() {
                read(String(decoding: try File.read(path + "/" + name), as: UTF8.self))
            }
        }
    }

    func has(_ type: String) -> Bool { types[type] != nil }

    /// The key of a property in JSON.
    func key(of property: String, in type: String) -> String {
        types[type]?.keys[property] ?? property
    }

    /// The comment of a property, or of the type.
    func comment(of property: String?, in type: String) -> String? {
        guard let property else { return types[type]?.comment }
        return types[type]?.properties[property]
    }

    // MARK: Reading

    /// Reads the declarations of a file by their indentation, which `make lint` holds to the form.
    private mutating func read(_ text: String) {
        var open: [(indent: Int, name: String)] = []
        var comment: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let indent = line.prefix { $0 == " " }.count
            let words = line.dropFirst(indent)
            if words.hasPrefix("///") {
                comment.append(words.dropFirst(3).drop { $0 == " " })
                continue
            }
            if words == "}", open.last?.indent == indent { open.removeLast() }
            let type = open.map(\.name).filter { $0 != "API" && $0 != "CodingKeys" }
                .joined(separator: ".")
            if let name = Self.declared(words, after: ["struct", "enum", "extension"]),
                words.hasSuffix("{")
            {
                open.append((indent, name))
                let full = type.isEmpty ? name : type + "." + name
                let known = full.hasPrefix("API.") ? String(full.dropFirst(4)) : full
                if words.contains("struct "), name != "CodingKeys" {
                    types[known, default: Source()].comment = Self.sentence(comment)
                }
            } else if let name = Self.declared(words, after: ["var", "let"]) {
                types[type]?.properties[name] = Self.sentence(comment)
            } else if words.hasPrefix("case "), open.last?.name == "CodingKeys" {
                let parts = words.dropFirst(5).split(separator: "\"")
                let name = parts.first?.prefix { $0 != " " } ?? ""
                if parts.count == 2 { types[type]?.keys[String(name)] = String(parts[1]) }
            }
            if !words.hasPrefix("@") || words.contains("var ") { comment = [] }
        }
    }

    /// The name that a line declares.
    private static func declared(_ line: Substring, after keywords: [String]) -> String? {
        let words = line.split(separator: " ").map(String.init)
        guard let at = words.firstIndex(where: keywords.contains), at + 1 < words.count else {
            return nil
        }
        let before = words[..<at]
        guard before.allSatisfy({ $0.hasPrefix("@") || Self.modifiers.contains($0) }) else {
            return nil
        }
        return String(words[at + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })
    }

    private static let modifiers: Set<String> = [
        "package", "public", "private", "fileprivate", "private(set)", "fileprivate(set)",
    ]

    /// The first paragraph of a comment.
    private static func sentence(_ lines: [Substring]) -> String? {
        let first = lines.prefix { !$0.isEmpty }
        return first.isEmpty ? nil : first.joined(separator: " ")
    }
}
