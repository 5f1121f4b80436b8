// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// Synchronizes two processes that perform one check.
struct Meeting: Sendable {
    /// Which of the two this is, 0 or 1.
    let place: Int
    /// One end of a packet socket; the other process has the other end.
    let descriptor: Int32
    /// The time limit; `nil` for none.
    let until: MonotonicInstant?

    /// Waits until the other process reaches the same point.
    ///
    /// - Returns: `false` if the other process has ended or does not arrive; it reports that
    ///   itself.
    func meet() -> Bool {
        var word: UInt8 = 0
        let isSent = withUnsafeBytes(of: &word) { PacketSocket.send(descriptor, $0, wait: true) }
        guard isSent == 0, waitForWord() else { return false }
        return withUnsafeMutableBytes(of: &word) {
            PacketSocket.receive(descriptor, $0, wait: false) == 1
        }
    }

    private func waitForWord() -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let now = Monotonic.now
            if let until, now >= until { return false }
            let rest = until.map { Int32(clamping: $0.since(now) / 1_000_000 + 1) } ?? -1
            let count = poll(&wanted, 1, rest)
            guard count < 0, errno == EINTR else { return count > 0 }
        }
    }
}
