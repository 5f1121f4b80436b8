// SPDX-License-Identifier: Apache-2.0

/// A settings format other than JSON that a user may have written by mistake.
enum OtherFormat: String {
    case yaml = "YAML"
    case toml = "TOML"

    /// Guesses the format from the first line that is neither empty nor a comment.
    ///
    /// - Parameter bytes: a text that is not JSON.
    init?(of bytes: [UInt8]) {
        let head = String(decoding: bytes.prefix(Self.bytesRead), as: UTF8.self)
        let lines = head.split(whereSeparator: \.isNewline).lazy
            .map { $0.drop { $0 == " " || $0 == "\t" } }
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }) else {
            return nil
        }
        if line.hasPrefix("---") || line.hasPrefix("%YAML") || line.hasPrefix("- ") {
            self = .yaml
            return
        }
        // A section header: a JSON text can start with a bracket too, but not with a bare word
        // after it.
        if line.hasPrefix("["), line.dropFirst().first?.isLetter == true, line.contains("]") {
            let word = line.dropFirst().prefix(while: Self.isOfKey)
            guard line.dropFirst(1 + word.count).hasPrefix("]") else { return nil }
            self = .toml
            return
        }
        let key = line.prefix(while: Self.isOfKey)
        guard !key.isEmpty else { return nil }
        let rest = line.dropFirst(key.count)
        if rest == ":" || rest.hasPrefix(": ") {
            self = .yaml
        } else if rest.drop(while: { $0 == " " }).hasPrefix("=") {
            self = .toml
        } else {
            return nil
        }
    }

    /// How to convert the format to JSON.
    var help: String {
        let tool = self == .yaml ? "for instance with `yq -o json`" : "by hand"
        return "convert it, \(tool); comments and trailing commas are allowed"
    }

    private static let bytesRead = 4096

    private static func isOfKey(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "_-.".contains(character)
    }
}
