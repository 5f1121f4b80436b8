// SPDX-License-Identifier: Apache-2.0

internal import BghostFacts
internal import CBghostSystem
internal import Synchronization

/// The context of one fact source: it watches descriptors for the source and receives its readings
/// and messages.
///
/// Used on the reactor's thread.
package final class FactSourceContext {
    private let source: Int
    private let shared: SharedFactState
    private var descriptors: [UInt64: Int32] = [:]

    init(source: Int, shared: SharedFactState) {
        self.source = source
        self.shared = shared
    }

    /// The inbox through which other threads send messages to this source.
    var inbox: FactInbox.Slot { FactInbox.Slot(inbox: shared.inbox, source: source) }

    /// Watches a descriptor, and calls the source's `ready` with the returned token.
    func watch(_ fd: Int32, for readiness: Readiness) throws(SystemError) -> UInt64 {
        let token = shared.takeToken(source: source)
        do {
            try shared.reactor.watch(fd, for: readiness, token: token)
        } catch {
            shared.forget(token)
            throw error
        }
        descriptors[token] = fd
        return token
    }

    /// Stops watching a descriptor.
    ///
    /// Call it before the descriptor is closed.
    func unwatch(_ token: UInt64) {
        guard let fd = descriptors.removeValue(forKey: token) else { return }
        shared.reactor.unwatch(fd)
        shared.forget(token)
    }

    /// Reports a reading.
    func report(_ reading: FactReading) {
        shared.readings.append(reading)
    }
}

/// The state that the contexts of all sources share.
final class SharedFactState {
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

    /// The source that a token belongs to; `nil` for a token that was given up within the same
    /// turn.
    func source(of token: UInt64) -> Int? { sources[token] }
}

/// Carries messages from any thread to the reactor's thread.
final class FactInbox: Sendable {
    /// The part of the inbox for one source.
    struct Slot: Sendable {
        let inbox: FactInbox
        let source: Int

        /// Appends a message and wakes the reactor.
        ///
        /// Callable from any thread. After the end of the reactor it has no effect.
        func post(_ message: FactMessage) {
            inbox.messages.withLock { $0.append((source, message)) }
            // This fails only if so many wake-ups are pending that the reactor wakes anyway.
            _ = bgs_eventfd_signal(inbox.descriptor.raw)
        }
    }

    private let messages = Mutex<[(source: Int, message: FactMessage)]>([])
    private let descriptor: Descriptor

    init() throws(SystemError) {
        descriptor = Descriptor(owning: try checked(bgs_eventfd(), "create an event descriptor"))
    }

    /// A descriptor that is readable while there are messages.
    var fd: Int32 { descriptor.raw }

    /// Removes and returns all messages.
    func take() -> [(source: Int, message: FactMessage)] {
        // An event that is already drained leaves nothing to do.
        _ = bgs_eventfd_drain(descriptor.raw)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
