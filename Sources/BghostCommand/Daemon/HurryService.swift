// SPDX-License-Identifier: Apache-2.0

internal import BghostHost
internal import ServiceLifecycle
internal import UnixSignals

/// Ends a drain at once when another signal comes to stop: whoever asks twice does not want to wait.
///
/// It has a description because the group asks for one.
struct HurryService: Service, CustomStringConvertible {
    let host: Host

    var description: String { "the second signal" }

    func run() async throws {
        // From the start, so that none is missed between the first and the drain.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        var count = 0
        for await _ in signals.cancelOnGracefulShutdown() {
            count += 1
            if count > 1 { await host.hurry() }
        }
    }
}
