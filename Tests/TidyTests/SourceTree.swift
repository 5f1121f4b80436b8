// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc

/// The repository's own files, as the tidy tests read them.
enum SourceTree {
    struct File: Sendable {
        /// Relative to the repository.
        var path: String
        var text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    }

    /// Folders of a repository that hold what was built or fetched.
    private static let skipped: Set<String> = [".build", ".git", ".swiftpm", "node_modules"]

    /// The files below some folders or of these names, in the order of their paths.
    static func files(in roots: [String], ending suffix: String = "") throws -> [File] {
        var found: [File] = []
        var open = roots
        while let path = open.popLast() {
            let absolute = "\(PackageRoot.path)/\(path)"
            var facts = stat()
            // A root need not exist.
            guard lstat(absolute, &facts) == 0 else { continue }
            switch facts.st_mode & S_IFMT {
            case S_IFDIR:
                let names = try BghostTestSupport.File.list(absolute)
                open += names.filter { !skipped.contains($0) }.map { "\(path)/\($0)" }
            case S_IFREG where path.hasSuffix(suffix):
                let bytes = try BghostTestSupport.File.read(absolute)
                // A file that is not UTF-8 has no words.
                guard let text = String(validating: bytes, as: UTF8.self) else { continue }
                found.append(File(path: path, text: text))
            default: break
            }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// The Swift files that ship.
    static func sources() throws -> [File] {
        try files(in: ["Sources", "SDK", "Plugins", "Examples"], ending: ".swift")
    }

    /// The Swift files of tests, fuzzing and benchmarks.
    static func tests() throws -> [File] {
        try files(in: ["Tests", "Fuzz", "Benchmarks"], ending: ".swift")
    }
}
