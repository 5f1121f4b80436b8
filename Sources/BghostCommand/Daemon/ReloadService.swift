// SPDX-License-Identifier: Apache-2.0

internal import BghostHost
internal import ServiceLifecycle
internal import UnixSignals

/// Makes the host reload its manifest at each SIGHUP; the log contains the result.
///
/// The service group requires a description.
struct ReloadService: Service, CustomStringConvertible {
    let host: Host

    var description: String { "the reload on SIGHUP" }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            // The host logs the reason for a refusal; a signal has no response.
            _ = try? await host.reload()
        }
    }
}
