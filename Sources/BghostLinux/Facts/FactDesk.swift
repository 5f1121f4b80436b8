// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import CBghostSystem
internal import Synchronization

/// What a source has to work with: the reactor's eyes, a place to tell, and an inbox.
///
/// Used on the reactor's thread.
package final class FactDesk {
    private let source: Int
    private let board: FactBoard
    private var descriptors: [UInt64: Int32] = [:]

    init(source: Int, board: FactBoard) {
        self.source = source
        self.board = board
    }

    /// Where other threads leave messages for this source.
    package var inbox: FactInbox.Slot { FactInbox.Slot(inbox: board.inbox, source: source) }

    /// Has the source's `ready` called with the token that this answers.
    package func watch(_ fd: Int32, for readiness: Readiness) throws(SystemError) -> UInt64 {
        let token = board.takeToken(source: source)
        do {
            try board.reactor.watch(fd, for: readiness, token: token)
        } catch {
            board.forget(token)
            throw error
        }
        descriptors[token] = fd
        return token
    }

    /// Ends that, before the descriptor is closed.
    package func unwatch(_ token: UInt64) {
        guard let fd = descriptors.removeValue(forKey: token) else { return }
        board.reactor.unwatch(fd)
        board.forget(token)
    }

    /// Tells what has been read.
    package func tell(_ reading: FactReading) {
        board.readings.append(reading)
    }
}

/// What the desks share.
final class FactBoard {
    let reactor: Reactor
    let inbox: FactInbox
    var readings: [FactReading] = []
    private let base: UInt64
    private var last: UInt64 = 0
    private var sources: [UInt64: Int] = [:]

    init(reactor: Reactor, tokens: UInt64) throws(SystemError) {
        self.reactor = reactor
        base = tokens
        inbox = try FactInbox()
    }

    func takeToken(source: Int) -> UInt64 {
        last += 1
        sources[base | last] = source
        return base | last
    }

    func forget(_ token: UInt64) { sources[token] = nil }

    /// Whose a token is; `nil` for one that was given up within the same turn.
    func source(of token: UInt64) -> Int? { sources[token] }
}

/// Brings messages from any thread to the reactor's.
package final class FactInbox: Sendable {
    /// One source's part of it.
    package struct Slot: Sendable {
        let inbox: FactInbox
        let source: Int

        /// Leaves a message and wakes the reactor.
        ///
        /// From any thread; also after the end, when nobody looks any more.
        package func post(_ message: FactMessage) {
            inbox.messages.withLock { $0.append((source, message)) }
            _ = bgs_eventfd_signal(inbox.descriptor.raw)
        }
    }

    private let messages = Mutex<[(source: Int, message: FactMessage)]>([])
    private let descriptor: Descriptor

    init() throws(SystemError) {
        descriptor = Descriptor(owning: try checked(bgs_eventfd(), "create an event descriptor"))
    }

    /// Readable while there are messages.
    var fd: Int32 { descriptor.raw }

    /// Takes all that is there.
    func take() -> [(source: Int, message: FactMessage)] {
        _ = bgs_eventfd_drain(descriptor.raw)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
