// SPDX-License-Identifier: Apache-2.0

package import BghostDispatch
package import BghostLinux
package import BghostModel
import Synchronization

/// Receivers of alerts that a test answers.
package final class ScriptedTransport: AlertTransport {
    package struct Sent: Sendable {
        package var receiver: AlertReceiver
        package var delivery: AlertDelivery
    }

    private struct State {
        var sent: [Sent] = []
        var beats: [String] = []
        var failing: [AlertReceiver] = []
        var failure = ""
    }

    private let state = Mutex(State())

    package init() {}

    /// What was sent, whether it was taken or not.
    package var sent: [Sent] { state.withLock { $0.sent } }

    /// The reasons of the heartbeats.
    package var beats: [String] { state.withLock { $0.beats } }

    /// Lets exactly these receivers refuse messages.
    package func fail(_ receivers: [AlertReceiver], with failure: String = "it answered 503") {
        state.withLock { state in
            state.failing = receivers
            state.failure = failure
        }
    }

    package func send(
        _ delivery: AlertDelivery,
        to receiver: AlertReceiver,
        spawner: Spawner
    ) async -> Result<String, AlertFailure> {
        state.withLock { state in
            state.sent.append(Sent(receiver: receiver, delivery: delivery))
            return state.failing.contains(receiver)
                ? .failure(AlertFailure(state.failure)) : .success("it answered 200")
        }
    }

    package func beat(_ url: String, reasons: String) async -> Result<String, AlertFailure> {
        state.withLock { $0.beats.append(reasons) }
        return .success("it answered 200")
    }
}
