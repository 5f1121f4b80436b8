// SPDX-License-Identifier: Apache-2.0

internal import BghostHost
internal import ServiceLifecycle
internal import UnixSignals

/// Has the host read its manifest anew at each SIGHUP; the log says what came of it.
///
/// It has a description because the group asks for one.
struct ReloadService: Service, CustomStringConvertible {
    let host: Host

    var description: String { "the reload on SIGHUP" }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            // What is refused is in the log, and nobody waits for an answer.
            _ = try? await host.reload()
        }
    }
}
