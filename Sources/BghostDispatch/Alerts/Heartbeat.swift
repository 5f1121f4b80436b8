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
    /// The shortest time between two reports, nanoseconds.
    private static let periodMin: UInt64 = 1_000_000_000

    private let transport: (any AlertTransport)?
    private let reactor: Reactor
    private let clock: DaemonClock
    private let deadlines: Deadlines
    private let log: HostLog
    /// What is wrong.
    private let reasons: () -> [String]
    private var settings: HeartbeatSettings?
    private var deadline: MonotonicInstant = .never
    /// When the last report was begun.
    private var begunAt: MonotonicInstant = .zero
    private var isUnderWay = false
    private var lastReasons = ""
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
        reasons: @escaping () -> [String]
    ) {
        self.transport = transport
        self.reactor = reactor
        self.clock = clock
        self.deadlines = deadlines
        self.log = log
        self.reasons = reasons
    }

    private var period: UInt64 { settings?.every.clampedNanoseconds ?? 0 }

    /// Takes over settings; the first report is sent at once.
    package func apply(_ new: HeartbeatSettings?) {
        guard new != settings else { return }
        settings = new
        error = nil
        beat()
    }

    /// Sends nothing more.
    package func stop() { isStopped = true }

    /// Something may be wrong, or right again: what the last report said may not hold.
    package func stateChanged() {
        guard settings != nil, text.isEmpty != lastReasons.isEmpty else { return }
        arm(at: max(begunAt + Self.periodMin, clock.monotonic))
    }

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
            reference.perform { $0.sent(result) }
        }
    }

    private func sent(_ result: Result<String, AlertFailure>) {
        isUnderWay = false
        switch result {
        case .success:
            sentAt = clock.wall
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
