// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostCommandLine
internal import BghostControl
internal import BghostModel
internal import BghostTerminal

/// The libraries that `--dev-library` puts in the place of those of the manifest.
///
/// An author who changes an installed plugin tries the change in its own tasks, with its permissions, and does not
/// edit the manifest or sign each build for that (docs/adr/0843-development-libraries.md).
struct DevelopmentLibraries: Equatable, Sendable {
    /// Absolute paths by the names of plugins.
    let paths: [String: String]

    /// Reads `NAME=FILE` for each plugin.
    init(_ words: [String]) throws(CommandFailure) {
        var paths: [String: String] = [:]
        for word in words {
            guard let split = word.firstIndex(of: "="), split > word.startIndex,
                word.index(after: split) < word.endIndex
            else {
                throw CommandFailure(
                    .usage,
                    "--dev-library is NAME=FILE, not \(TerminalText.escaped(word))",
                    fix: "name a plugin of the manifest and the .so that you build"
                )
            }
            let name = String(word[..<split])
            guard paths[name] == nil else {
                throw CommandFailure(
                    .usage,
                    "--dev-library names \(TerminalText.escaped(name)) twice"
                )
            }
            paths[name] = ControlLocation.normalized(String(word[word.index(after: split)...]))
        }
        self.paths = paths
    }

    /// The manifest with these libraries: neither pinned nor signed, and loaded again when they change.
    func applied(to manifest: Manifest) -> Manifest {
        var manifest = manifest
        for index in manifest.plugins.indices {
            guard let path = paths[manifest.plugins[index].name] else { continue }
            manifest.plugins[index].library = path
            manifest.plugins[index].sha256 = nil
            manifest.plugins[index].signedBy = nil
            manifest.plugins[index].libraries = [:]
            manifest.plugins[index].writtenOnChange = .reload
        }
        return manifest
    }

    /// Refuses names of no plugin.
    ///
    /// A reload does not: a plugin may leave the manifest and come back.
    func requirePlugins(of manifest: Manifest) throws(CommandFailure) {
        let names = manifest.plugins.map(\.name)
        for name in paths.keys.sorted() where !names.contains(name) {
            throw CommandFailure(
                .usage,
                "--dev-library: the manifest has no plugin \(TerminalText.escaped(name))",
                fix: Spelling.nearest(to: name, among: names).map { "did you mean `\($0)`?" }
                    ?? "it has \(names.sorted().prefix(20).map(TerminalText.escaped).joined(separator: ", "))"
            )
        }
    }
}
