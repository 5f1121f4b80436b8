// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Synchronization

/// Counts the streams that clients follow, so that they leave connections for commands.
///
/// The control socket and the dashboard share one. Any thread may use it.
final class FollowerSlots: Sendable {
    /// The most streams at the same time.
    static let most = 32
    /// The most streams of all members of the control group, so that operators always have some.
    static let mostOfMembers = most / 2
    /// The most streams of one client.
    static let mostOfClient = 8

    /// Who follows streams: a user at the control socket, a session of the dashboard, or a member of the
    /// control group.
    ///
    /// A member can begin as many sessions as it likes, so they have no streams of their own.
    fileprivate struct Client: Hashable {
        /// `nil` for a client that nothing is known of.
        let uid: UInt32?
        let session: String
        let isMember: Bool

        init(_ caller: Caller?) {
            uid = caller?.peer.uid
            isMember = caller?.isMember ?? true
            session = isMember ? "" : caller?.session ?? ""
        }

        var name: String {
            guard let uid else { return "an unknown user" }
            return session.isEmpty ? "user \(uid)" : "the session \(session) of the dashboard"
        }
    }

    /// A place, which is given back once: by ``end()``, or when nothing refers to it any more.
    final class Lease: Sendable {
        private let slots: FollowerSlots
        private let client: Client
        private let isEnded = Mutex(false)

        fileprivate init(_ slots: FollowerSlots, _ client: Client) {
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

    private let counts = Mutex<[Client: Int]>([:])

    /// The number of streams that are followed now.
    var count: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// Takes a place for a stream.
    ///
    /// - Parameter caller: `nil` for a client that nothing is known of; all of them count as one.
    /// - Throws: if the client, all members of the control group, or all together, have as many streams as they
    ///   may have.
    func take(for caller: Caller?) throws(ControlFault) -> Lease {
        let client = Client(caller)
        let refusal = counts.withLock { counts -> ControlFault? in
            if let refusal = Self.refusal(of: client, counts) { return refusal }
            counts[client, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
        return Lease(self, client)
    }

    private static func refusal(of client: Client, _ counts: [Client: Int]) -> ControlFault? {
        let own = counts[client] ?? 0
        guard own < mostOfClient else {
            return refusal("\(client.name) follows \(own) streams already, the most for one client")
        }
        let all = counts.values.reduce(0, +)
        guard all < most else {
            return refusal("\(all) streams are followed already, the most for this daemon")
        }
        let ofMembers = counts.reduce(0) { $0 + ($1.key.isMember ? $1.value : 0) }
        guard !client.isMember || ofMembers < mostOfMembers else {
            return refusal(
                "members of `host.controlGroup` follow \(ofMembers) streams already, the most for them"
            )
        }
        return nil
    }

    private static func refusal(_ message: String) -> ControlFault {
        ControlFault(
            .tooManyFollowers,
            message,
            fix: "end one of them, such as a `bghost logs --follow`, or ask without `follow`"
        )
    }

    private func giveBack(_ client: Client) {
        counts.withLock { counts in
            let left = (counts[client] ?? 1) - 1
            counts[client] = left > 0 ? left : nil
        }
    }
}
