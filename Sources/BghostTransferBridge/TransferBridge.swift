// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
package import BghostServices
package import BghostTransferRules
package import BghostTransfer
package import Synchronization

/// Passes events of the transfer engine to the host's thread, and the host's conditions to the engine.
package final class TransferBridge: TransferObserver {
    package enum Event: Sendable {
        case sessionEnded(SessionEnd)
        case endsExpired([TransferRecord])
        /// The journal has begun or ceased to fail.
        case journalChanged
    }

    private struct State {
        var events: [Event] = []
        /// Notifies the host of new events.
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let log: HostLog
    private let onChange: (@Sendable (TransferRecord) -> Void)?
    /// Whether a discretionary transfer may start.
    package let isGoodMoment = Atomic(false)
    /// The hosts, files and disk space that the transfers of each plugin may use.
    package let accesses = Mutex<[String: TransferAccess]>([:])
    /// The simulated offset of the wall clock, in nanoseconds.
    package let clockOffset = Atomic<Int64>(0)

    /// - Parameter onChange: called on the engine's thread after each change of a transfer's state.
    package init(log: HostLog, onChange: (@Sendable (TransferRecord) -> Void)? = nil) {
        self.log = log
        self.onChange = onChange
    }

    /// Removes and returns all events since the last call.
    package func take() -> [Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// Registers the callback for new events.
    ///
    /// - Parameter wake: called on any thread when the queue of events becomes non-empty.
    package func onEvent(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    private func add(_ event: Event) {
        let wake = state.withLock { state in
            state.events.append(event)
            return state.events.count == 1 ? state.wake : nil
        }
        wake?()
    }

    // MARK: TransferObserver

    package func sessionEnded(_ end: SessionEnd) { add(.sessionEnded(end)) }

    package func endsExpired(_ records: [TransferRecord]) { add(.endsExpired(records)) }

    package func keptEndsDropped(_ records: [TransferRecord]) {
        guard let first = records.first else { return }
        log.write(
            .warning,
            "session.dropped",
            records.count == 1
                ? "dropped the end of \(first.request.id) of session \(first.request.session): the"
                    + " plugin has more ends that wait for their sessions than are kept"
                : "dropped the \(records.count) oldest ends that wait for their sessions, from"
                    + " \(first.request.id) of session \(first.request.session) on: the plugin has"
                    + " more of them than are kept",
            plugin: first.request.plugin
        )
    }

    package func transferChanged(_ record: TransferRecord) {
        onChange?(record)
        let isEnd = record.status.state.isTerminal
        let level: LogEntry.Level = record.status.state == .failed ? .warning : .info
        guard log.keeps(isEnd ? level : .debug) else { return }
        let standing = record.status.isDetached ? "" : ", awaited"
        let fault = record.status.fault.map { ": \($0.detail)" } ?? ""
        log.write(
            isEnd ? level : .debug,
            isEnd ? "transfer.ended" : "transfer.changed",
            "\(record.request.id) of session \(record.request.session) is"
                + " \(record.status.state.rawValue)\(standing)\(fault)",
            plugin: record.request.plugin
        )
    }

    package func journalFailed(_ error: TransferJournalError) {
        log.write(.error, "transfer.journal_failed", error.description)
        add(.journalChanged)
    }

    package func journalRecovered() {
        log.write(
            .info,
            "transfer.journal_recovered",
            "transfers are written down again, and what could not be meanwhile is stored"
        )
        add(.journalChanged)
    }
}

/// The machine's clock, with the daemon's simulated offset.
package struct TransferBridgeClock: TransferClock {
    package let bridge: TransferBridge
    private let machine = SystemTransferClock()

    package init(bridge: TransferBridge) {
        self.bridge = bridge
    }

    package var now: UInt64 { machine.now }

    package var unixNow: Int64 {
        machine.unixNow.addingClamped(bridge.clockOffset.load(ordering: .relaxed))
    }

    package func sleep(until moment: UInt64) async throws { try await machine.sleep(until: moment) }
}
