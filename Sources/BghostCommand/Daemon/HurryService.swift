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
        let clock = ContinuousClock()
        var first: ContinuousClock.Instant?
        for await _ in signals.cancelOnGracefulShutdown() {
            let now = clock.now
            // Some that start programs send theirs to the program and to its group: that is one.
            if let first, now - first > .milliseconds(20) { await host.hurry() }
            if first == nil { first = now }
        }
    }
}
