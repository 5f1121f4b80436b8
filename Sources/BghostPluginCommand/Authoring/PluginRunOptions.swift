// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostControl
internal import BghostManifest
internal import BghostModel
internal import BghostTerminal

/// The checked options of `bghost plugin run`.
struct PluginRunOptions {
    let file: String
    let handler: String?
    /// A JSON object.
    let parameters: String
    /// A JSON object.
    let config: String
    let limits: RunLimits
    let kind: TaskKind
    let permissions: Permissions
    /// The manifest that declares what the plugin wants; `nil` for that of its folder, if there is one.
    let manifest: String?
    let isJSON: Bool
    /// Whether a debugger is attached before the run begins.
    let isDebugged: Bool
    /// The debugger's command; `nil` for the one that fits the plugin.
    let debugger: String?

    init(_ command: Plugin.Run) throws {
        file = command.file
        handler = command.handler
        parameters = try command.request.parametersText()
        config = try Self.object(command.pluginConfig)
        limits = RunLimits(
            runtime: try Self.duration(command.expireAfter, "--expire-after"),
            grace: try Self.duration(command.grace, "--grace")
        )
        guard let kind = TaskKind(rawValue: command.kind), TaskKind.named.contains(kind) else {
            throw CommandFailure(
                .usage,
                "--kind is refresh or processing, not \(TerminalText.escaped(command.kind))"
            )
        }
        self.kind = kind
        permissions = Permissions(
            network: try command.allowNetwork.map(Self.grant),
            read: command.allowRead.map(ControlLocation.normalized),
            write: command.allowWrite.map(ControlLocation.normalized)
        )
        manifest = command.manifest
        isJSON = command.json
        isDebugged = command.debug
        debugger = command.debugger
    }

    private static func object(_ text: String) throws(CommandFailure) -> String {
        do throws(JSONError) {
            let node = try JSONReader.parse(Array(text.utf8), dialect: .strict)
            guard node.object != nil else { throw JSONError(.notAnObject, at: node.span) }
            return text
        } catch {
            throw CommandFailure(
                .usage,
                TerminalText.escaped("--plugin-config must be a JSON object: \(error.message)"),
                fix: "write for instance '{\"a\": 1}'"
            )
        }
    }

    private static func duration(
        _ text: String,
        _ option: String
    ) throws(CommandFailure) -> Duration {
        // The shortest times that a manifest may name, too.
        guard let duration = HumanText.duration(from: text), duration >= .milliseconds(1),
            duration <= .seconds(86_400)
        else {
            throw CommandFailure(
                .usage,
                "\(option) is a duration of 1ms to 1d, such as 5s, not \(TerminalText.escaped(text))"
            )
        }
        return duration
    }

    private static func grant(_ text: String) throws(CommandFailure) -> NetworkGrant {
        do throws(NetworkGrantFault) {
            return try NetworkGrant(parsing: text)
        } catch {
            throw CommandFailure(
                .usage,
                TerminalText.escaped("--allow-network `\(text)`: \(error.reason)"),
                fix: error.suggestion.map { "write " + TerminalText.escaped($0) }
                    ?? "write a host and a port, such as example.org:443"
            )
        }
    }
}
