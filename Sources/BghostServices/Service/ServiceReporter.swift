// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostLinux

/// Reports the state of the daemon to the service manager, and gives it signs of life.
///
/// A sign of life needs an answer of each thread without which the daemon is useless: the reactor's, which
/// sends it, and those of the store and of the spawner. If one of them hangs, the manager restarts the daemon.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. An event costs one comparison;
/// at most once a second the state is described, which costs O(n) in the plugins.
package final class ServiceReporter {
    /// A thread that answers, besides the reactor's.
    package enum WatchedThread: CaseIterable {
        case store, spawner
    }

    private enum Phase {
        case starting, ready, stopping
    }

    /// How often the state is described at most, nanoseconds.
    private static let statusPeriod: UInt64 = 1_000_000_000
    /// The delay before messages are sent again that the manager's socket did not take, nanoseconds.
    private static let retryPeriod: UInt64 = 100_000_000
    /// The most messages that wait for the socket.
    private static let unsentMax = 16
    /// How often a drain asks for more time, and how much more, nanoseconds.
    private static let extensionPeriod: UInt64 = 5_000_000_000
    private static let extensionTime: UInt64 = 20_000_000_000

    private let notify: (@Sendable ([ServiceMessage]) -> Bool)?
    private let watchdogPeriod: UInt64?
    private let reactor: Reactor
    private let deadlines: Deadlines
    /// Asks a thread to call the function.
    private let ask: (WatchedThread, @escaping @Sendable () -> Void) -> Void
    private let describe: () -> String
    private let now: () -> MonotonicInstant
    private var phase = Phase.starting
    private var reloads = 0
    private var unsent: [ServiceMessage] = []
    private var sentStatus: String?
    private var statusAt: MonotonicInstant = .zero
    /// Whether the status may have changed since.
    private var isChanged = false
    private var extendAt: MonotonicInstant = .never
    /// The deadlines that are armed.
    private var serviceDeadline: MonotonicInstant = .never
    private var watchdogDeadline: MonotonicInstant = .never
    /// The number of the current question to the threads.
    private var question: UInt64 = 0
    private var silent: Set<WatchedThread> = []
    /// Whether a sign of life is sent as soon as all threads have answered.
    private var isLate = false
    private lazy var reference = ReactorReference(self, on: reactor)

    /// - Parameters:
    ///   - notify: sends messages to the manager without waiting, and returns whether it could; `nil` if there
    ///     is no manager.
    ///   - watchdogTimeout: how long the manager waits for a sign of life, nanoseconds; `nil` without a
    ///     watchdog.
    ///   - ask: makes a thread call a function; it must not wait for that.
    ///   - describe: the state of the daemon in one line.
    package init(
        _ reactor: Reactor,
        _ deadlines: Deadlines,
        notify: (@Sendable ([ServiceMessage]) -> Bool)?,
        watchdogTimeout: UInt64?,
        ask: @escaping (WatchedThread, @escaping @Sendable () -> Void) -> Void,
        describe: @escaping () -> String,
        now: @escaping () -> MonotonicInstant = { Monotonic.now }
    ) {
        self.notify = notify
        // Half of the manager's time, as sd_watchdog_enabled(3) recommends.
        watchdogPeriod = watchdogTimeout.map { max($0 / 2, 1) }
        self.reactor = reactor
        self.deadlines = deadlines
        self.ask = ask
        self.describe = describe
        self.now = now
    }

    // MARK: Events

    /// Begins to give signs of life.
    package func begin() {
        guard notify != nil, let watchdogPeriod else { return }
        askThreads()
        armWatchdog(at: now() + watchdogPeriod)
    }

    /// The control socket accepts clients, and the store is open.
    package func ready() {
        guard phase == .starting else { return }
        phase = .ready
        send([.ready] + status())
    }

    /// Something that the status mentions may have changed.
    package func stateChanged() {
        guard notify != nil, !isChanged, phase != .starting else { return }
        isChanged = true
        arm(at: statusAt + Self.statusPeriod)
    }

    package func reloadBegan() {
        reloads += 1
        guard reloads == 1, phase == .ready else { return }
        sentStatus = nil
        send([
            .reloading(since: now().nanoseconds / 1000), .status("reloading the manifest"),
        ])
    }

    package func reloadEnded() {
        reloads -= 1
        guard reloads == 0, phase == .ready else { return }
        send([.ready] + status())
    }

    package func drainBegan() {
        guard phase != .stopping else { return }
        phase = .stopping
        send([.stopping] + status())
        extendAt = now()
        arm(at: extendAt)
    }

    // MARK: Deadlines

    package func isLive(_ token: TimerToken, _ deadline: MonotonicInstant) -> Bool {
        switch token {
        case .service: deadline == serviceDeadline
        case .watchdog: deadline == watchdogDeadline
        default: false
        }
    }

    package func deadlinePassed(_ token: TimerToken) {
        if token == .watchdog { return watchdogPassed() }
        serviceDeadline = .never
        let moment = now()
        send([])
        // The end of a reload sends the status.
        if isChanged, reloads == 0 || phase == .stopping {
            let due = statusAt + Self.statusPeriod
            if moment >= due { send(status()) } else { arm(at: due) }
        }
        guard phase == .stopping else { return }
        if moment >= extendAt {
            // The graces of the runs bound a drain, and the manager does not know them. If the daemon
            // hangs, this does not come.
            send([.extendTimeout(Self.extensionTime / 1000)])
            extendAt = moment + Self.extensionPeriod
        }
        arm(at: extendAt)
    }

    private func arm(at deadline: MonotonicInstant) {
        guard notify != nil, deadline < serviceDeadline else { return }
        serviceDeadline = deadline
        deadlines.arm(.service, at: deadline)
    }

    // MARK: Messages

    /// The status, unless the manager has it.
    private func status() -> [ServiceMessage] {
        guard notify != nil else { return [] }
        statusAt = now()
        isChanged = false
        let text = describe()
        guard text != sentStatus else { return [] }
        sentStatus = text
        return [.status(text)]
    }

    /// Sends messages after those that wait.
    private func send(_ messages: [ServiceMessage]) {
        guard let notify else { return }
        unsent += messages
        guard !unsent.isEmpty else { return }
        if notify(unsent) {
            unsent = []
            return
        }
        // Without these the unit would stay in its state; the others are repeated anyway.
        unsent = unsent.filter { message in
            switch message {
            case .ready, .reloading, .stopping: true
            case .status, .watchdog, .extendTimeout: false
            }
        }.suffix(Self.unsentMax)
        sentStatus = nil
        isChanged = true
        arm(at: now() + Self.retryPeriod)
    }

    // MARK: Signs of life

    private func askThreads() {
        question += 1
        isLate = false
        // During a drain, the store is closed on the spawner's thread, which may wait for a disk; the
        // manager's time for a stop then bounds it.
        guard phase != .stopping else { return silent = [] }
        silent = Set(WatchedThread.allCases)
        for thread in WatchedThread.allCases {
            ask(thread) { [reference, question] in
                reference.perform { $0.answered(thread, question) }
            }
        }
    }

    private func answered(_ thread: WatchedThread, _ question: UInt64) {
        guard question == self.question else { return }
        silent.remove(thread)
        if silent.isEmpty, isLate { giveSign() }
    }

    private func watchdogPassed() {
        guard let watchdogPeriod else { return }
        armWatchdog(at: now() + watchdogPeriod)
        if silent.isEmpty || phase == .stopping {
            giveSign()
        } else {
            isLate = true
        }
    }

    private func giveSign() {
        send([.watchdog])
        askThreads()
    }

    private func armWatchdog(at deadline: MonotonicInstant) {
        watchdogDeadline = deadline
        deadlines.arm(.watchdog, at: deadline)
    }
}
