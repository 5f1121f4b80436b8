// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Synchronization

/// Counts the streams that clients follow, so that they leave connections for commands.
///
/// The control socket and the dashboard share one. Any thread may use it.
final class FollowerSlots: Sendable {
    /// The most streams at the same time.
    static let most = 32
    /// The most streams of one client: a user at the control socket, or a session of the dashboard.
    static let mostOfClient = 8

    /// A place, which is given back once: by ``end()``, or when nothing refers to it any more.
    final class Lease: Sendable {
        private let slots: FollowerSlots
        private let client: String
        private let isEnded = Mutex(false)

        fileprivate init(_ slots: FollowerSlots, _ client: String) {
            self.slots = slots
            self.client = client
        }

        deinit { end() }

        func end() {
            let isFirst = isEnded.withLock { isEnded in
                defer { isEnded = true }
                return !isEnded
            }
            if isFirst { slots.giveBack(client) }
        }
    }

    private let counts = Mutex<[String: Int]>([:])

    /// The number of streams that are followed now.
    var count: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// Takes a place for a stream.
    ///
    /// - Parameter caller: `nil` for a client that nothing is known of; all of them count as one.
    /// - Throws: if the client, or all together, have as many streams as they may have.
    func take(for caller: Caller?) throws(ControlFault) -> Lease {
        let client = Self.name(of: caller)
        let refusal = counts.withLock { counts -> ControlFault? in
            let own = counts[client] ?? 0
            guard own < Self.mostOfClient else {
                return Self.refusal(
                    "\(client) follows \(own) streams already, the most for one client"
                )
            }
            let all = counts.values.reduce(0, +)
            guard all < Self.most else {
                return Self.refusal("\(all) streams are followed already, the most for this daemon")
            }
            counts[client] = own + 1
            return nil
        }
        if let refusal { throw refusal }
        return Lease(self, client)
    }

    private static func name(of caller: Caller?) -> String {
        guard let caller else { return "an unknown user" }
        return caller.session.isEmpty
            ? "user \(caller.peer.uid)" : "the session \(caller.session) of the dashboard"
    }

    private static func refusal(_ message: String) -> ControlFault {
        ControlFault(
            .tooManyFollowers,
            message,
            fix: "end one of them, such as a `bghost logs --follow`, or ask without `follow`"
        )
    }

    private func giveBack(_ client: String) {
        counts.withLock { counts in
            let left = (counts[client] ?? 1) - 1
            counts[client] = left > 0 ? left : nil
        }
    }
}
