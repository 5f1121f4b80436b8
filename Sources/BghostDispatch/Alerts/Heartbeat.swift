// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostLinux
package import BghostModel
package import BghostServices

/// Reports to another machine that the daemon lives, and what is wrong.
///
/// The reactor's own timer sends each report, so a daemon that hangs sends none. The host owns it. Use it on
/// the reactor's thread only; the transport works on other threads. A report costs O(n) in the alerts that fire.
package final class Heartbeat {
    /// The most bytes of reasons in one report.
    private static let reasonsBytesMax = 10_000
    /// The shortest time between two reports, nanoseconds; it doubles with each failure.
    private static let periodMin: UInt64 = 1_000_000_000
    /// More failures than this do not lengthen that time, which is 64 s then.
    private static let doublingsMax = 6

    private let transport: (any AlertTransport)?
    private let reactor: Reactor
    private let clock: DaemonClock
    private let deadlines: Deadlines
    private let log: HostLog
    /// Whether something is wrong.
    private let hasTrouble: () -> Bool
    /// What is wrong.
    private let reasons: () -> [String]
    private var settings: HeartbeatSettings?
    private(set) var deadline: MonotonicInstant = .never
    /// When the last report was begun.
    private var begunAt: MonotonicInstant = .zero
    private var isUnderWay = false
    /// What the last report said, whether it was taken or not.
    private var lastReasons = ""
    /// Whether something was wrong according to the last report that was taken; `nil` if none was.
    private var takenTrouble: Bool?
    /// The reports that have failed since one was taken.
    private var failures = 0
    private var sentAt: Int64?
    private var error: String?
    private var isStopped = false
    private lazy var reference = ReactorReference(self, on: reactor)

    package init(
        _ transport: (any AlertTransport)?,
        reactor: Reactor,
        _ clock: DaemonClock,
        _ deadlines: Deadlines,
        log: HostLog,
        hasTrouble: @escaping () -> Bool,
        reasons: @escaping () -> [String]
    ) {
        self.transport = transport
        self.reactor = reactor
        self.clock = clock
        self.deadlines = deadlines
        self.log = log
        self.hasTrouble = hasTrouble
        self.reasons = reasons
    }

    private var period: UInt64 { settings?.every.clampedNanoseconds ?? 0 }

    /// Takes over settings; the first report is sent at once.
    package func apply(_ new: HeartbeatSettings?) {
        guard new != settings else { return }
        if new?.url != settings?.url {
            // Another server knows nothing yet.
            (takenTrouble, failures, sentAt, lastReasons) = (nil, 0, nil, "")
        }
        settings = new
        error = nil
        beat()
    }

    /// Sends nothing more.
    package func stop() { isStopped = true }

    /// Something may be wrong, or right again: what the server knows may not hold.
    ///
    /// The cost does not depend on the number of alerts: each alert that begins or ends calls it.
    package func stateChanged() {
        // The end of the report that is under way calls it again.
        guard settings != nil, !isUnderWay, !isStopped, hasTrouble() != takenTrouble else { return }
        let pause = Self.periodMin << UInt64(min(failures, Self.doublingsMax))
        arm(at: max(begunAt + pause, clock.monotonic))
    }

    /// Whether no report is under way.
    var isIdle: Bool { !isUnderWay }

    /// Whether a deadline is the one that is armed.
    package func isLive(_ date: MonotonicInstant) -> Bool { date == deadline }

    package func deadlinePassed() {
        deadline = .never
        beat()
    }

    private func arm(at date: MonotonicInstant) {
        guard date < deadline else { return }
        deadline = date
        deadlines.arm(.heartbeat, at: date)
    }

    private var text: String {
        reasons().joined(separator: "\n").shortened(toBytes: Self.reasonsBytesMax)
    }

    private func beat() {
        guard let settings, let transport, !isStopped else { return }
        arm(at: clock.monotonic + period)
        // The server does not answer in time; its answer or the timeout comes first.
        guard !isUnderWay else { return }
        isUnderWay = true
        begunAt = clock.monotonic
        lastReasons = text
        let (url, reasons) = (settings.url, lastReasons)
        // The result comes back by the reference; there is nothing else to wait for.
        Task { [reference] in
            let result = await transport.beat(url, reasons: reasons)
            reference.perform { $0.sent(result, to: url, trouble: !reasons.isEmpty) }
        }
    }

    private func sent(_ result: Result<String, AlertFailure>, to url: String, trouble: Bool) {
        isUnderWay = false
        // A reload has named another server meanwhile; its first report had to wait.
        guard url == settings?.url else { return beat() }
        switch result {
        case .success:
            sentAt = clock.wall
            takenTrouble = trouble
            failures = 0
            if error != nil {
                log.write(.info, "heartbeat.recovered", "\(name) takes heartbeats again")
            }
            error = nil
        case .failure(let failure):
            if error == nil {
                log.write(
                    .error,
                    "heartbeat.failed",
                    "\(name) takes no heartbeat: \(failure.reason)"
                )
            }
            error = failure.reason
            failures += 1
        }
        stateChanged()
    }

    private var name: String {
        settings.map { AlertReceiver.webhook(url: $0.url, headers: [], secret: nil).server } ?? ""
    }

    package var status: HeartbeatStatus? {
        guard settings != nil else { return nil }
        return HeartbeatStatus(
            name: name,
            sentAt: sentAt,
            reasons: lastReasons,
            error: error ?? ""
        )
    }
}
