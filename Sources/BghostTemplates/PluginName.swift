// SPDX-License-Identifier: Apache-2.0

/// The name of a new plugin, in the forms that its files use.
package struct PluginName: Equatable, Sendable {
    /// The words in lower case with hyphens, such as `photo-upload`: in identifiers and names of libraries.
    package let hyphenated: String
    /// The same with underscores, such as `photo_upload`: in names of files and of a crate.
    package let underscored: String
    /// The words with capitals, such as `PhotoUpload`: the name of a Swift module.
    package let module: String

    /// The most characters of a name, so that lines with it stay within 100 columns.
    static let lengthMax = 32

    /// Checks a name.
    ///
    /// - Parameter text: letters, digits and hyphens between words; `photo-upload` and `PhotoUpload` are
    ///   the same name.
    package init(_ text: String) throws(PluginNameError) {
        guard !text.isEmpty else { throw PluginNameError("is empty") }
        guard text.utf8.count <= Self.lengthMax else {
            throw PluginNameError("has more than \(Self.lengthMax) characters")
        }
        if let wrong = text.first(where: { !Self.isAllowed($0) }) {
            throw PluginNameError("has `\(wrong)`")
        }
        guard text.first?.isLetter == true else {
            throw PluginNameError("does not begin with a letter")
        }
        let words = Self.words(of: text)
        guard !words.contains("") else {
            throw PluginNameError("has a hyphen that is not between two words")
        }
        hyphenated = words.joined(separator: "-")
        underscored = words.joined(separator: "_")
        module = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        // SwiftPM, Cargo and Go refuse them, or the compiler takes them for something else.
        if Self.taken.contains(module.lowercased()) {
            throw PluginNameError("is a name that Swift, Rust, Go or the SDK uses")
        }
    }

    private static func isAllowed(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-")
    }

    /// Splits at hyphens and in front of a capital behind a small letter or a digit.
    private static func words(of text: String) -> [String] {
        var words = [""]
        var isBehindSmall = false
        for character in text {
            if character == "-" || character.isUppercase && isBehindSmall { words.append("") }
            isBehindSmall = character.isLowercase || character.isNumber
            if character != "-" { words[words.count - 1] += character.lowercased() }
        }
        return words
    }

    /// In lower case, without hyphens.
    private static let taken: Set<String> = [
        // Modules.
        "backgroundfoundation", "backgroundtasks", "backgroundtaskstesting", "cbghost", "dispatch",
        "foundation", "foundationessentials", "foundationnetworking", "glibc", "sdk", "swift",
        "swiftui", "synchronization", "testing", "testinguikit", "uikit", "usernotifications",
        "xctest",
        // Types of the SDK that a plugin uses.
        "handler", "plugin", "task", "taskcontext",
        // Words and crates of Rust, folders of Cargo.
        "abstract", "alloc", "as", "async", "await", "become", "bghost", "box", "break", "build",
        "const", "continue", "core", "crate", "deps", "do", "dyn", "else", "enum", "examples",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "incremental", "let",
        "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "procmacro", "pub",
        "ref", "return", "self", "static", "std", "struct", "super", "test", "trait", "true", "try",
        "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
        // A folder of Go.
        "vendor",
    ]
}

/// Why a text is not the name of a plugin.
package struct PluginNameError: Error, Equatable, Sendable {
    /// What is wrong, to stand behind the name.
    package let reason: String

    /// What a name looks like.
    package static let rule =
        "a name has letters, digits and hyphens between words, begins with a letter and has at most "
        + "\(PluginName.lengthMax) characters, such as photo-upload"

    init(_ reason: String) { self.reason = reason }
}
