// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Show what confines workers on this machine, and try it.",
        discussion: """
            It starts a worker without a plugin, has it confine itself, and has it try what it must \
            not be able to do. No daemon is needed; if one answers, plugins that it has quarantined \
            are shown too, whether its store or its journal of transfers fails, and its lease in a fleet. \
            It fails if a layer does not hold that the manifest requires, or if either of them fails.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let daemon = await daemon()
        let fleet = daemon == nil ? nil : await fleet()
        let status = try await SandboxDoctor.run(
            config: connection.config,
            status: daemon,
            fleet: fleet,
            json: output.json,
            output.console
        )
        if status != .success { throw ExitCode(status.rawValue) }
    }

    /// The fleet of the daemon's host; `nil` if no daemon answers.
    private func fleet() async -> FleetStatus? {
        // Without a path there is no daemon to ask.
        guard let path = try? connection.socketPath() else { return nil }
        // A daemon that does not answer is not a finding.
        let fleet = try? await ControlClient.with(socketPath: path) { try await $0.fleet() }
        return fleet?.value
    }

    /// The status of the daemon; `nil` if no daemon answers.
    ///
    /// A missing daemon is not an error here: the doctor checks the machine, and reports a manifest with
    /// errors separately.
    private func daemon() async -> HostStatus? {
        // Without a path there is no daemon to ask.
        guard let path = try? connection.socketPath() else { return nil }
        // A daemon that does not answer is not a finding.
        let status = try? await ControlClient.with(socketPath: path) { try await $0.status() }
        return status?.value
    }
}
