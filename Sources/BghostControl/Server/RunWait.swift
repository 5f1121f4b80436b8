// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import ServiceLifecycle

/// Waits for the end of runs on behalf of clients that may disconnect earlier.
struct RunWait: Sendable {
    let host: any HostControl

    /// The ended run of a request; `nil` if the request ended without a run.
    ///
    /// - Throws: `CancellationError` as soon as the client disconnects or the daemon stops.
    func run(ofRequest id: RunID) async throws -> RunRecord? {
        try await cancelWhenGracefulShutdown {
            let (ends, continuation) = AsyncStream<RunRecord?>.makeStream()
            // The host may not return before the run has ended, and a task group would wait for it; this task
            // is not awaited and ends with the run.
            let waiting = Task {
                continuation.yield(await host.waitForRun(ofRequest: id))
                continuation.finish()
            }
            defer { waiting.cancel() }
            for await end in ends { return end }
            throw CancellationError()
        }
    }
}
