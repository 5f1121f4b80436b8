// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostControl
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
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let path = folder + "/" + name
            // A file that cannot be read as a library is none.
            guard name.hasSuffix(".so"), let image = try? PluginImage.inspect(path: path),
                image.note != nil
            else { continue }
            found.append(path)
        }
        return found.sorted()
    }
}
