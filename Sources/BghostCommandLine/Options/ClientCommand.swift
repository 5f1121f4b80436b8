// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import ArgumentParser
package import BghostControl
internal import BghostLinux

/// A command that connects to the daemon.
package protocol ClientCommand: AsyncParsableCommand {
    var connection: ConnectionOptions { get }
    var output: OutputOptions { get }
}

extension ClientCommand {
    /// Calls the closure with a client of the daemon that the options name.
    package func ask<Result: Sendable>(
        _ body: (ControlClient, Console) async throws -> Result
    ) async throws -> Result {
        let console = output.console
        return try await ControlClient.with(
            socketPath: connection.socketPath(),
            onOtherVersion: { version in
                console.remark(
                    "warning: this is bghost \(BghostVersion.text), the daemon is "
                        + "\(TerminalText.escaped(version)); restart it to bring them together"
                )
            },
            { try await body($0, console) }
        )
    }
}

/// The current time, Unix nanoseconds.
package func unixNow() -> Int64 { WallClock.now }
