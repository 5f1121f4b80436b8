// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostCheck
internal import BghostTerminal
internal import BghostViews
internal import Glibc

/// Checks a plugin for its author, and prints the results.
enum PluginChecker {
    static func run(_ command: Plugin.Check, _ console: Console) throws -> ExitStatus {
        let options = try options(command)
        let runner = CheckRunner(options)
        do {
            if command.inProcess, let name = command.check.first,
                let check = CheckCatalog.check(name)
            {
                return show(try runner.runHere(check), of: check, options, console)
            }
            let view = CheckView(console, onlyFailed: command.onlyFailed)
            let report = try runner.run { if !command.output.json { view.show($0) } }
            if let handler = command.handler, let plugin = report.plugin,
                !plugin.handlers.contains(where: { $0.name == handler })
            {
                let names = plugin.handlers.map(\.name).joined(separator: ", ")
                throw noHandler(handler, names)
            }
            if command.output.json {
                console.answer(
                    json: report.json { !command.onlyFailed || CheckView.isTrouble($0) }
                )
            } else {
                view.end(report)
            }
            return report.hasPassed ? .success : .failure
        } catch let error as SystemError {
            throw CommandFailure(
                error.isShortage ? .tryLater : .internalError,
                TerminalText.escaped(error.description)
            )
        }
    }

    private static func noHandler(_ name: String, _ names: String) -> CommandFailure {
        CommandFailure(
            .notFound,
            TerminalText.escaped("the plugin has no handler `\(name)`; it has \(names)")
        )
    }

    private static func options(_ command: Plugin.Check) throws -> CheckRunner.Options {
        let file = try PluginPath.find(command.file)
        for name in command.check where CheckCatalog.check(name) == nil {
            let known = CheckCatalog.checks.map(\.id)
            throw CommandFailure(
                .usage,
                "there is no check `\(TerminalText.escaped(name))`",
                fix: Spelling.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
                    ?? "they are \(known.joined(separator: ", "))"
            )
        }
        var options = CheckRunner.Options(
            file: absolute(file),
            seed: command.reproduce ?? UInt64.random(in: 0...UInt64(UInt32.max))
        )
        options.strictness = command.strictness
        options.checks = command.check
        options.handler = command.handler
        options.parameters = try object(
            RequestOptions.text(of: command.parameters),
            "--parameters"
        )
        options.config = try object(command.pluginConfig, "--plugin-config")
        options.runtimeMilliseconds = try milliseconds(command.runtime, "--runtime")
        options.graceMilliseconds = try milliseconds(command.grace, "--grace")
        options.memoryMebibytes = command.memory
        return options
    }

    private static func absolute(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func object(_ text: String, _ option: String) throws(CommandFailure) -> String {
        do throws(JSONError) {
            let node = try JSONReader.parse(Array(text.utf8), dialect: .strict)
            guard node.object != nil else {
                throw JSONError(.notAnObject, at: ByteSpan(start: 0, end: 0))
            }
        } catch {
            throw CommandFailure(
                .usage,
                TerminalText.escaped("\(option) must be a JSON object: \(error.message)"),
                fix: "write for instance '{\"a\": 1}'"
            )
        }
        guard text.utf8.count <= 32 << 10 else {
            throw CommandFailure(.usage, "\(option) has more than 32 KiB")
        }
        return text
    }

    private static func milliseconds(
        _ text: String,
        _ option: String
    ) throws(CommandFailure) -> UInt32 {
        guard let duration = HumanText.duration(from: text),
            duration >= .milliseconds(100), duration <= .seconds(60)
        else {
            throw CommandFailure(.usage, "\(option) is a duration of 100ms to 60s")
        }
        return UInt32(clamping: duration.clampedNanoseconds / 1_000_000)
    }

    private static func show(
        _ finding: Finding?,
        of check: BghostCheck.Check,
        _ options: CheckRunner.Options,
        _ console: Console
    ) -> ExitStatus {
        let result = CheckResult(of: check, handler: options.handler, finding)
        CheckView(console, onlyFailed: false).show(result)
        return result.verdict == .failed ? .failure : .success
    }
}
