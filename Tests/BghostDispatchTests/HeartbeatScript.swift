// SPDX-License-Identifier: Apache-2.0

import BghostDispatch
import BghostLinux
import BghostModel
import Synchronization

/// A server of heartbeats that answers when the test says so.
final class HeartbeatScript: AlertTransport {
    struct Beat: Equatable {
        var url: String
        var reasons: String
    }

    private struct State {
        var beats: [Beat] = []
        var waiting: [CheckedContinuation<Result<String, AlertFailure>, Never>] = []
    }

    private let state = Mutex(State())

    /// What has come, whether it is answered or not.
    var beats: [Beat] { state.withLock { $0.beats } }

    /// Answers the report that waits.
    func answer(_ status: Int) {
        let text = "it answered \(status)"
        let waiting = state.withLock { $0.waiting.removeFirst() }
        waiting.resume(returning: status == 200 ? .success(text) : .failure(AlertFailure(text)))
    }

    func send(
        _ delivery: AlertDelivery,
        to receiver: AlertReceiver,
        spawner: Spawner
    ) async -> Result<String, AlertFailure> { .success("it answered 200") }

    func beat(_ url: String, reasons: String) async -> Result<String, AlertFailure> {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.beats.append(Beat(url: url, reasons: reasons))
                state.waiting.append(continuation)
            }
        }
    }
}
