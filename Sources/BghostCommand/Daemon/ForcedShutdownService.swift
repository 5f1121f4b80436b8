// SPDX-License-Identifier: Apache-2.0

internal import BghostHost
internal import ServiceLifecycle
internal import UnixSignals

/// Ends a drain at once when a second stop signal arrives.
///
/// The service group requires a description.
struct ForcedShutdownService: Service, CustomStringConvertible {
    let host: Host

    var description: String { "the second signal" }

    func run() async throws {
        // Listen from the start, so that no signal is missed.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let clock = ContinuousClock()
        var first: ContinuousClock.Instant?
        for await _ in signals.cancelOnGracefulShutdown() {
            let now = clock.now
            // Some supervisors send a signal to the process and to its group: count these as one signal.
            if let first, now - first > .milliseconds(20) { await host.forceShutdown() }
            if first == nil { first = now }
        }
    }
}
