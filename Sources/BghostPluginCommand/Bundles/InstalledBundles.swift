// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostTerminal
internal import BghostTrust
internal import Glibc

/// Lists and removes installed bundles.
enum InstalledBundles {
    /// One of them, or what is wrong with its drop-in.
    private struct Entry {
        var name: String
        var fragment: Fragment?
        /// "" if its library is as it was installed.
        var problem: String
    }

    /// Prints the installed bundles.
    static func list(_ config: String, _ output: OutputOptions) throws(CommandFailure) {
        guard access(config, F_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(
                .inputMissing,
                "cannot read the manifest \(TerminalText.escaped(config)): \(reason)",
                fix: "name the one that the daemon reads with --config"
            )
        }
        let configuration = InstalledManifest.configuration(config, plugins: nil)
        let names: [String]
        do throws(BundleError) {
            names = try configuration.names()
        } catch {
            throw CommandFailure(
                .inputMissing,
                TerminalText.escaped(error.message),
                fix: TerminalText.escaped(error.fix)
            )
        }
        let entries = names.map { entry($0, configuration) }
        guard !output.json else { return output.console.answer(json: json(entries)) }
        var table = TextTable(header: ["", "NAME", "VERSION", "SIGNED BY", "TASKS", ""])
        for entry in entries { table.add(row(entry, output.console.out)) }
        output.console.answer(
            entries.isEmpty ? "no bundle is installed\n" : table.text(output.console.out)
        )
    }

    private static func row(_ entry: Entry, _ style: Style) -> [TextTable.Cell] {
        let mark: Style.Mark = entry.problem.isEmpty ? .good : .bad
        let signer = entry.fragment.map { $0.key.map(keyName) ?? "unsigned" } ?? ""
        let tasks = entry.fragment?.grants.identifiers.joined(separator: ", ") ?? ""
        return [
            .init(style.text(mark), style.tone(mark)), .init(entry.name),
            .init(entry.fragment?.version ?? ""), .init(TerminalText.escaped(signer)),
            .init(TerminalText.escaped(tasks)), .init(TerminalText.escaped(entry.problem)),
        ]
    }

    private static func entry(_ name: String, _ configuration: Configuration) -> Entry {
        do throws(BundleError) {
            guard let fragment = try configuration.fragment(name) else {
                return Entry(name: name, problem: "it was removed meanwhile")
            }
            let path = configuration.absolute("\(fragment.folder)/\(fragment.library)")
            let digest = LibraryDigest.sha256(path: path)
            let problem =
                digest == nil
                ? "its library is missing"
                : digest == fragment.sha256 ? "" : "its library was changed; it is not loaded"
            return Entry(name: name, fragment: fragment, problem: problem)
        } catch {
            return Entry(name: name, problem: error.description)
        }
    }

    private static func keyName(_ line: String) -> String {
        // A key that a person wrote into the drop-in is shown as it is.
        (try? MinisignPublicKey(line)).map { "key \($0.name)" } ?? line
    }

    private static func json(_ entries: [Entry]) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.bundles/1")
            writer.member("bundles") { writer in
                writer.array { writer in for entry in entries { write(entry, &writer) } }
            }
        }
        return writer.text
    }

    private static func write(_ entry: Entry, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("digest", entry.fragment?.digest)
            writer.member("folder", entry.fragment?.folder)
            writer.member("key", entry.fragment?.key)
            writer.member("library", entry.fragment?.library)
            writer.member("name", entry.name)
            writer.member("problem", entry.problem.isEmpty ? nil : entry.problem)
            writer.member("sha256", entry.fragment?.sha256)
            writer.member("tasks") { writer in
                writer.array { writer in
                    for identifier in entry.fragment?.grants.identifiers ?? [] {
                        writer.value(identifier)
                    }
                }
            }
            writer.member("version", entry.fragment?.version)
        }
    }

    /// Removes a bundle unless the rest of the manifest needs it.
    ///
    /// - Returns: its version; `nil` if only files were left of it.
    static func remove(_ name: String, _ config: String) throws -> String? {
        let configuration = InstalledManifest.configuration(config, plugins: nil)
        do {
            guard BundleName.isName(name) else { throw try unknown(name, configuration) }
            let lock = try configuration.lock()
            defer { withExtendedLifetime(lock) {} }
            guard let fragment = try configuration.fragment(name) else {
                guard configuration.removeLeftovers(of: name) else {
                    throw try unknown(name, configuration)
                }
                return nil
            }
            _ = try InstalledManifest.read(
                config,
                changes: [fragment.file: nil],
                refusal: "the manifest still needs \(name), or has other errors"
            )
            try fragment.remove(from: configuration)
            return fragment.version
        } catch let error as BundleError {
            throw CommandFailure(error)
        }
    }

    private static func unknown(
        _ name: String,
        _ configuration: Configuration
    ) throws(BundleError) -> CommandFailure {
        let names = try configuration.names()
        let shown = TerminalText.escaped(String(name.prefix(80)))
        let near = Spelling.nearest(to: name, among: names)
        return CommandFailure(
            .notFound,
            "no bundle \(shown) is installed",
            fix: near.map { "did you mean \($0)?" } ?? "bghost plugin list",
            candidates: names
        )
    }
}
