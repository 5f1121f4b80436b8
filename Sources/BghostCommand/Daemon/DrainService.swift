// SPDX-License-Identifier: Apache-2.0

internal import BghostHost
internal import ServiceLifecycle

/// Ends when a drain that an operator asked for lets the daemon stop; its end stops the service group.
///
/// The service group requires a description.
struct DrainService: Service, CustomStringConvertible {
    let host: Host

    var description: String { "the drain" }

    func run() async throws {
        for await _ in host.drained.cancelOnGracefulShutdown() { return }
    }
}
