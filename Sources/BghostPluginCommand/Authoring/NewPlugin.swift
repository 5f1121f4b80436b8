// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostControl
internal import BghostLinux
internal import BghostTemplates
internal import BghostTerminal
internal import Glibc

/// Writes the files of a new plugin.
enum NewPlugin {
    /// Writes them, and prints the next steps.
    ///
    /// - Parameter folder: where to write; `nil` is the name, in the current folder.
    static func run(
        name text: String,
        _ template: PluginTemplate,
        folder: String?,
        _ output: OutputOptions
    ) throws {
        let name: PluginName
        do {
            name = try PluginName(text)
        } catch {
            throw CommandFailure(
                .usage,
                "`\(TerminalText.escaped(String(text.prefix(80))))` \(error.reason)",
                fix: PluginNameError.rule
            )
        }
        let files = template.files(
            name,
            sdk: template.needsSDK ? try portable(InstalledFiles.sdk()) : "",
            schema: InstalledFiles.manifestSchema().flatMap { isPortable($0) ? $0 : nil }
        )
        let place = folder ?? text
        try makeFolder(place)
        for file in files { try write(file, in: place) }
        output.json ? describe(place, template, files, output) : show(place, template, name, output)
    }

    /// Whether make, Swift and JSON read a path without quoting.
    private static func isPortable(_ path: String) -> Bool {
        path.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0)
                || "/._+-@,".unicodeScalars.contains($0)
        }
    }

    private static func portable(_ path: String) throws(CommandFailure) -> String {
        guard isPortable(path) else {
            throw CommandFailure(
                .usage,
                "the path of the SDK, \(TerminalText.escaped(path)), has a character that make does"
                    + " not read",
                fix:
                    "set BGHOST_SDK to a link to it whose path has only letters, digits and /._+-@,"
            )
        }
        return path
    }

    // MARK: Files

    /// Makes the folder, or takes an empty one.
    private static func makeFolder(_ path: String) throws(CommandFailure) {
        guard !path.isEmpty else { throw CommandFailure(.usage, "--folder is empty") }
        if mkdir(path, 0o777) == 0 { return }
        guard errno == EEXIST else { throw failure("make the folder", path) }
        let names: [String]
        do {
            names = try FolderNames.of(path)
        } catch {
            throw CommandFailure(.taken, "cannot \(TerminalText.escaped(error.description))")
        }
        guard names.isEmpty else {
            throw CommandFailure(
                .taken,
                "\(TerminalText.escaped(path)) is there already, and is not empty",
                fix: "name another folder with --folder"
            )
        }
    }

    private static func write(_ file: TemplateFile, in folder: String) throws(CommandFailure) {
        var path = folder
        let parts = file.path.split(separator: "/")
        for part in parts.dropLast() {
            path += "/" + part
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
                throw failure("make the folder", path)
            }
        }
        path = folder + "/" + file.path
        // O_EXCL: also a file that another program made since is left as it is.
        let mode: mode_t = file.isExecutable ? 0o777 : 0o666
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("write", path) }
        var rest = Array(file.text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                let failure = failure("write", path)
                close(descriptor)
                throw failure
            }
            rest = rest.dropFirst(max(0, count))
        }
        guard close(descriptor) == 0 else { throw failure("write", path) }
    }

    private static func failure(_ what: String, _ path: String) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        return CommandFailure(.taken, "cannot \(what) \(TerminalText.escaped(path)): \(reason)")
    }

    // MARK: Output

    private static func show(
        _ folder: String,
        _ template: PluginTemplate,
        _ name: PluginName,
        _ output: OutputOptions
    ) {
        let console = output.console
        let place = TerminalText.escaped(folder)
        console.answer(
            """
            \(console.out.painted(.good)) \(place): a plugin in \(template.language). README.md says \
            more.
              cd \(word(place))
              \(template.build(name))
              bghost plugin check \(template.library(name))
              \(template.run(name))

            """
        )
    }

    /// A path as a shell takes it.
    private static func word(_ path: String) -> String {
        let plain = "/._-+,@%:=".utf8
        let isPlain = path.utf8.allSatisfy { byte in
            Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || plain.contains(byte)
        }
        // Of a path that begins with a hyphen `cd` would read options.
        let start = path.hasPrefix("-") ? "./" : ""
        return start + (isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'")
    }

    private static func describe(
        _ folder: String,
        _ template: PluginTemplate,
        _ files: [TemplateFile],
        _ output: OutputOptions
    ) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.new/1")
            writer.member("files") { writer in
                writer.array { writer in
                    for file in files { writer.value(file.path) }
                }
            }
            writer.member("folder", ControlLocation.normalized(folder))
            writer.member("language", template.rawValue)
        }
        output.console.answer(json: writer.text)
    }
}
