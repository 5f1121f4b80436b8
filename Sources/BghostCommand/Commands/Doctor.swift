// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl
internal import BghostCore

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what confines workers on this machine, and try it.",
        discussion: """
            It starts a worker without a plugin, has it confine itself, and has it try what it must \
            not be able to do. No daemon is needed; if one answers, plugins that it has quarantined \
            are shown too. It fails if a layer does not hold that the manifest requires.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let status = try await SandboxDoctor.run(
            config: connection.config,
            quarantined: await quarantined(),
            json: output.json,
            output.console
        )
        if status != .success { throw ExitCode(status.rawValue) }
    }

    /// What the daemon does not run any more; `nil` if none answers.
    private func quarantined() async -> [Quarantine]? {
        guard let path = try? connection.socketPath() else { return nil }
        let status = try? await ControlClient.with(socketPath: path) { try await $0.status() }
        return status?.value.plugins.compactMap(\.quarantine)
    }
}
