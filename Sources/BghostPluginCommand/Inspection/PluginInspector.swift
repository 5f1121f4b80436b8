// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostInspection
internal import BghostModel
internal import BghostPlugin
internal import BghostSchemas
internal import BghostTerminal

/// Prints the descriptor and properties of a plugin's file.
enum PluginInspector {
    /// Prints the result to the console.
    ///
    /// - Parameter loads: whether to run the plugin's code, in a temporary worker, for its handlers.
    static func run(
        file path: String,
        loads: Bool,
        json: Bool,
        _ console: Console
    ) async throws -> ExitStatus {
        let file = try PluginPath.find(path)
        let image: PluginImage
        do {
            image = try PluginImage.inspect(path: file)
        } catch {
            throw CommandFailure(.failure, TerminalText.escaped(error.description))
        }
        var problem: ImageError?
        do {
            _ = try image.requireLoadable()
            try PluginImage.requireResolved(path: file)
        } catch {
            problem = error
        }
        var summary: PluginSummary?
        if loads, problem == nil { summary = try await Self.summary(file) }
        if json {
            console.answer(json: describe(image, problem, summary))
        } else {
            show(image, problem, console)
            if let summary { show(summary, console) }
        }
        return problem == nil ? .success : .failure
    }

    private static func summary(_ file: String) async throws -> PluginSummary {
        let probe = try PluginProbe.ofFile()
        let definition = PluginDefinition(name: "plugin", library: file)
        switch await probe.summary(of: definition) {
        case .success(let summary): return summary
        case .failure(let failure):
            throw CommandFailure(
                .failure,
                "cannot load \(TerminalText.escaped(file)): "
                    + TerminalText.escaped(failure.message),
                fix: "bghost plugin check \(TerminalText.escaped(file))"
            )
        }
    }

    private static func show(_ summary: PluginSummary, _ console: Console) {
        for handler in summary.handlers {
            let schema: String
            if let known = summary.schemas.schemas[handler] {
                schema = (summary.checksParameters ? "checked: " : "not checked: ") + known.text
            } else if let problem = summary.schemas.problems[handler] {
                schema = "a schema that cannot be used: \(problem)"
            } else {
                schema = "no schema"
            }
            let name = console.out.painted("handler   ", .dim)
            console.answer("\(name)\(TerminalText.escaped("\(handler)  \(schema)"))\n")
        }
    }

    private static func show(_ image: PluginImage, _ problem: ImageError?, _ console: Console) {
        var rows: [(String, String)] = []
        if let note = image.note {
            rows.append(("id", note.id.isEmpty ? "(in its table)" : note.id))
            rows.append(("ABI", "\(note.abiMajor).\(note.abiMinor)"))
            rows.append(("runtime", note.runtime.isEmpty ? "(not said)" : note.runtime))
        } else {
            rows.append(("note", "none"))
        }
        rows.append(
            ("needs", image.needed.isEmpty ? "nothing" : image.needed.joined(separator: ", "))
        )
        rows.append(("exports", "\(image.extraExports) symbols besides its entry"))
        rows.append(
            (
                "concerns",
                image.concerns.isEmpty
                    ? "none" : image.concerns.map(\.rawValue).joined(separator: ", ")
            )
        )
        for (key, value) in rows {
            let name = DisplayWidth.padded(key + " ", to: 10)
            console.answer("\(console.out.painted(name, .dim))\(TerminalText.escaped(value))\n")
        }
        let mark = console.out.painted(problem == nil ? Style.Mark.good : .bad)
        let verdict = problem.map { "\($0) (\($0.code))" } ?? "this bghost can load it"
        console.answer("\(mark) \(TerminalText.escaped(verdict))\n")
    }

    private static func describe(
        _ image: PluginImage,
        _ problem: ImageError?,
        _ summary: PluginSummary?
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.plugin/1")
            writer.member("path", image.path)
            writer.member("id", image.note?.id)
            writer.member("abi", image.note.map { "\($0.abiMajor).\($0.abiMinor)" })
            writer.member("runtime", image.note?.runtime)
            writer.member("needed") { $0.strings(image.needed) }
            writer.member("extraExports", image.extraExports)
            writer.member("concerns") { $0.strings(image.concerns.map(\.rawValue)) }
            writer.member("loadable", problem == nil)
            writer.member("code", problem?.code)
            writer.member("problem", problem?.description)
            writer.member("checksParameters", image.note?.checksParameters ?? false)
            guard let summary else { return }
            writer.member("handlers") { writer in
                writer.array { writer in
                    for handler in summary.handlers {
                        writer.object { writer in
                            writer.member("name", handler)
                            writer.member(
                                "parametersSchema",
                                raw: summary.schemas.schemas[handler]?.text ?? "null"
                            )
                            writer.member("problem", summary.schemas.problems[handler])
                        }
                    }
                }
            }
        }
        return writer.text
    }
}

extension JSONWriter {
    fileprivate mutating func strings(_ values: [String]) {
        array { writer in
            for value in values { writer.value(value) }
        }
    }
}
