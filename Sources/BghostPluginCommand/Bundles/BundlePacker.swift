// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostControl
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostPlugin
internal import BghostSchemas
internal import BghostTerminal

/// Makes a bundle of a plugin.
enum BundlePacker {
    /// What the command line says; paths are as they were written.
    struct Options {
        /// The plugin's `.so`, or a folder in which it was built.
        var file: String
        var manifest: String?
        var name: String?
        /// Libraries for other architectures.
        var libraries: [String]
        var readme: String?
        var licenceFile: String?
        var licence: String?
        var homepage: String?
        /// HANDLER=FILE.
        var schemas: [String]
        /// IDENTIFIER=HANDLER.
        var tasks: [String]
        var permissions: [(key: String, values: [String])]
        var output: String?
    }

    /// Writes the bundle, and prints what will not work on every machine.
    static func run(_ options: Options, _ output: OutputOptions) async throws {
        let library = try PluginPath.find(options.file)
        let summary = try await load(library)
        let input = try PackInput(options, library: library)
        for (member, file) in input.files {
            guard case .schema = member else { continue }
            // An unreadable file is refused below, with its reason.
            let bytes = try? SmallFile.read(file, bytesMax: ParameterSchema.textBytesMax).get()
            try BundleSchemas.require(member, bytes ?? [], summary)
        }
        let description = try input.description(summary, options, library: library)
        let draft: BundleDraft
        let path: String
        do throws(BundleError) {
            // What cannot be installed is not packed.
            _ = try GrantList(description).manifest(InstalledZones.source)
            draft = try self.draft(description, library, input)
            path =
                options.output ?? "\(description.name)-\(description.version)\(BundleFile.suffix)"
            try draft.write(to: path)
        } catch {
            throw CommandFailure(error)
        }
        let bundle = try BundleFile.open(path)
        var warnings = try PackWarnings.of(library)
        for other in input.libraries {
            // Several architectures have the same warning often, and the author mends each.
            let name = PackInput.name(of: other)
            do throws(CommandFailure) {
                warnings += try PackWarnings.of(other).map { "\(name): \($0)" }
            } catch {
                warnings.append("what \(name) needs cannot be read: \(error.message)")
            }
        }
        warnings += input.warnings
        show(path, bundle, warnings, output)
    }

    private static func draft(
        _ description: BundleDescription,
        _ library: String,
        _ input: PackInput
    ) throws(BundleError) -> BundleDraft {
        var draft = try BundleDraft(description)
        for path in [library] + input.libraries {
            let file = try HeldFile(path: path)
            guard
                let architecture = Architecture(
                    elf: try file.read(at: 0, count: min(20, file.count))
                )
            else {
                throw BundleError(
                    "\(path.quoted) is no shared library of "
                        + Architecture.allCases.map(\.rawValue).joined(separator: ", "),
                    fix: "name the plugin's .so for another architecture"
                )
            }
            try draft.add(.library(architecture, file: PackInput.name(of: path)), file)
        }
        for (member, path) in input.files { try draft.add(member, try HeldFile(path: path)) }
        return draft
    }

    /// Loads the plugin in a temporary worker: only its table says its version and handlers.
    private static func load(_ library: String) async throws -> PluginSummary {
        let probe = try PluginProbe.ofFile()
        switch await probe.summary(of: PluginDefinition(name: "plugin", library: library)) {
        case .success(let summary): return summary
        case .failure(let failure):
            let file = TerminalText.escaped(library)
            throw CommandFailure(
                .failure,
                "cannot load \(file): \(TerminalText.escaped(failure.message))",
                fix: "bghost plugin check \(file)"
            )
        }
    }

    private static func show(
        _ path: String,
        _ bundle: Bundle,
        _ warnings: [String],
        _ output: OutputOptions
    ) {
        let console = output.console
        guard !output.json else {
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("schema", "bghost.pack/1")
                writer.member("digest", bundle.digest)
                writer.member("file", path)
                writer.member("members") { writer in
                    writer.array { writer in
                        for member in bundle.members { writer.value(member.name) }
                    }
                }
                writer.member("name", bundle.description.name)
                writer.member("version", bundle.description.version)
                writer.member("warnings") { writer in
                    writer.array { writer in
                        for warning in warnings { writer.value(warning) }
                    }
                }
            }
            return console.answer(json: writer.text)
        }
        console.answer(
            "\(console.out.painted(.good)) \(TerminalText.escaped(path)): \(BundleFile.title(bundle))"
                + " for \(bundle.architectures.map(\.rawValue).joined(separator: ", ")), not signed\n"
        )
        for member in bundle.members { console.answer("  \(member.name)\n") }
        for warning in warnings {
            console.answer(
                "\(console.out.painted(Style.Mark.warning)) \(TerminalText.escaped(warning))\n"
            )
        }
    }
}

/// What a library needs that other machines may not have.
enum PackWarnings {
    /// What the oldest system that bghost is built for has, Debian 12.
    private static let oldest: [(family: Portability.Family, name: String, version: String)] = [
        (.glibc, "glibc", "2.36"), (.standardLibrary, "libstdc++ with GLIBCXX", "3.4.30"),
        (.cxxABI, "libstdc++ with CXXABI", "1.3.13"),
    ]
    private static let debugBytesMax: UInt64 = 4 << 20

    static func of(_ library: String) throws(CommandFailure) -> [String] {
        let needs: Portability
        do throws(ImageError) {
            needs = try Portability(path: library)
        } catch {
            throw CommandFailure(.failure, TerminalText.escaped(error.description))
        }
        var warnings: [String] = []
        let swift = needs.otherLibraries.filter {
            $0.hasPrefix("libswift") || $0.contains("Foundation") || $0.hasPrefix("libdispatch")
        }
        if !swift.isEmpty {
            warnings.append(
                "it needs Swift's runtime (\(swift.joined(separator: ", "))), which few machines"
                    + " have in this version: build it with --static-swift-stdlib"
            )
        }
        let others = needs.otherLibraries.filter { !swift.contains($0) }
        if !others.isEmpty {
            warnings.append(
                "it needs \(others.joined(separator: ", ")), which other machines may not have: link"
                    + " it statically, or say so in the README"
            )
        }
        // SwiftPM links each library with `$ORIGIN`, the folder of the library itself.
        let folders = needs.searchFolders.filter {
            !$0.hasPrefix("$ORIGIN") && !$0.hasPrefix("${ORIGIN}")
        }
        if !folders.isEmpty {
            warnings.append(
                "its RUNPATH names folders of this machine (\(folders.joined(separator: ":"))):"
                    + " link it without -rpath"
            )
        }
        for (family, name, version) in oldest {
            guard let needed = needs.version(of: family, newerThan: version) else { continue }
            warnings.append(
                "it needs \(name) \(needed), and Debian 12 has \(version): build it on an older system"
            )
        }
        if needs.debugBytes > debugBytesMax {
            warnings.append(
                "it has \(needs.debugBytes >> 20) MiB of debug information: `strip --strip-debug`"
                    + " takes it off"
            )
        }
        return warnings
    }
}
