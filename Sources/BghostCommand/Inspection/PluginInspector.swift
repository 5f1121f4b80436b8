// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostPlugin
internal import BghostTerminal

/// Prints the descriptor and properties of a plugin's file, without running its code.
enum PluginInspector {
    /// Prints the result to the console.
    static func run(file: String, json: Bool, _ console: Console) async throws -> ExitStatus {
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
        if json {
            console.answer(json: describe(image, problem))
        } else {
            show(image, problem, console)
        }
        return problem == nil ? .success : .failure
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
            let name = key.padding(to: 10)
            console.answer("\(console.out.painted(name, .dim))\(TerminalText.escaped(value))\n")
        }
        let mark = console.out.painted(problem == nil ? Style.Mark.good : .bad)
        let verdict = problem.map { "\($0) (\($0.code))" } ?? "this bghost can load it"
        console.answer("\(mark) \(TerminalText.escaped(verdict))\n")
    }

    private static func describe(_ image: PluginImage, _ problem: ImageError?) -> String {
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

extension String {
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
