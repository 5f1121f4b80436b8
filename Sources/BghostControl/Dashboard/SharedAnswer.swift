// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import NIOCore
internal import Synchronization

/// An answer that the pages of the dashboard share for a second, so that many of them cost as much as one.
///
/// A verb ends it, so the page that sent the verb sees what has become of it. Any thread may use it.
final class SharedAnswer: Sendable {
    private struct State {
        /// The number of verbs so far.
        var verbs: UInt64 = 0
        var made: (at: MonotonicInstant, verbs: UInt64, bytes: ByteBuffer)?
    }

    /// How old a shared answer may be, nanoseconds.
    static let ageMax: UInt64 = 1_000_000_000

    private let state = Mutex(State())
    private let clock: @Sendable () -> MonotonicInstant

    init(clock: @escaping @Sendable () -> MonotonicInstant = { Monotonic.now }) {
        self.clock = clock
    }

    /// Ends the answer, because a verb may have changed what it says.
    func end() { state.withLock { $0.verbs += 1 } }

    /// The bytes of an answer that is new enough, or else of a new one.
    func bytes(_ make: () async throws -> ByteBuffer) async rethrows -> ByteBuffer {
        // What a verb changes while the answer is made may be missing in it.
        let (begun, verbs) = (clock(), state.withLock(\.verbs))
        let known = state.withLock { state -> ByteBuffer? in
            guard let made = state.made, made.verbs == verbs, begun.since(made.at) < Self.ageMax
            else { return nil }
            return made.bytes
        }
        if let known { return known }
        let bytes = try await make()
        state.withLock { $0.made = (begun, verbs, bytes) }
        return bytes
    }
}
