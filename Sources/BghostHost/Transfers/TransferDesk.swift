// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostTransfer
internal import Synchronization

/// Where the transfer engine leaves what it has to tell, for the host to take on its own thread; and
/// where the host leaves what the engine asks for.
final class TransferDesk: TransferObserver {
    enum Event: Sendable {
        case sessionEnded(SessionEnd)
        case endsExpired([TransferRecord])
    }

    private struct State {
        var events: [Event] = []
        /// Brings the host to look.
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let log: HostLog
    /// Whether a discretionary transfer may begin.
    let isGoodMoment = Atomic(false)
    /// What the transfers of each plugin may touch.
    let accesses = Mutex<[String: TransferAccess]>([:])
    /// What the wall clock is moved by, nanoseconds.
    let clockOffset = Atomic<Int64>(0)

    init(log: HostLog) {
        self.log = log
    }

    /// All that has been told since the last time.
    func take() -> [Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// - Parameter wake: called on any thread when there is something to take and was nothing before.
    func onEvent(_ wake: @escaping @Sendable () -> Void) {
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

    func sessionEnded(_ end: SessionEnd) { add(.sessionEnded(end)) }

    func endsExpired(_ records: [TransferRecord]) { add(.endsExpired(records)) }

    func transferChanged(_ record: TransferRecord) {
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

    func journalFailed(_ error: TransferJournalError) {
        log.write(.error, "transfer.journal_failed", error.description)
    }
}

/// The machine's clock, moved with the daemon's.
struct TransferDeskClock: TransferClock {
    let desk: TransferDesk
    private let machine = SystemTransferClock()

    init(desk: TransferDesk) {
        self.desk = desk
    }

    var now: UInt64 { machine.now }

    var unixNow: Int64 {
        machine.unixNow.addingClamped(desk.clockOffset.load(ordering: .relaxed))
    }

    func sleep(until moment: UInt64) async throws { try await machine.sleep(until: moment) }
}
