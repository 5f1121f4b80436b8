// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostControl
internal import BghostLinux
internal import BghostPlugin
internal import Glibc

/// Finds the plugin that an author means.
enum PluginPath {
    /// Where builds put libraries, below the plugin's folder.
    private static let folders = [".", ".build/release", "target/release", "build"]

    /// The absolute path of a file, or of the only plugin that was built in a folder.
    static func find(_ path: String) throws(CommandFailure) -> String {
        let absolute = ControlLocation.normalized(path)
        var facts = stat()
        guard stat(absolute, &facts) == 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(
                .inputMissing,
                "cannot read \(TerminalText.escaped(path)): \(reason)"
            )
        }
        guard facts.st_mode & S_IFMT == S_IFDIR else { return absolute }
        let found = folders.flatMap { plugins(in: $0 == "." ? absolute : "\(absolute)/\($0)") }
        guard let only = found.first else {
            throw CommandFailure(
                .inputMissing,
                "there is no plugin in \(TerminalText.escaped(path)); looked for .so files in "
                    + folders.joined(separator: ", "),
                fix: "build it first, or name its .so"
            )
        }
        guard found.count == 1 else {
            throw CommandFailure(
                .usage,
                "there are several plugins in \(TerminalText.escaped(path))",
                fix: "name one of them",
                candidates: found.map(TerminalText.escaped)
            )
        }
        return only
    }

    /// The files in a folder that have the note of a plugin, sorted.
    private static func plugins(in folder: String) -> [String] {
        // Not every build has all folders.
        let names = (try? FolderNames.of(folder)) ?? []
        return names.filter { $0.hasSuffix(".so") }.map { folder + "/" + $0 }.filter { path in
            // A file that cannot be read as a library is none.
            (try? PluginImage.inspect(path: path))?.note != nil
        }.sorted()
    }
}
