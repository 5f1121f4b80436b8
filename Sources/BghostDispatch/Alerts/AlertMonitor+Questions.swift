// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostAlerts
internal import BghostBase
internal import BghostModel

/// What the daemon tells of its alerts when it is asked; a question changes nothing.
extension AlertMonitor {
    /// The most alerts that a heartbeat lists.
    static let reasonsMax = 100

    /// Whether a heartbeat says that something is wrong: not in a window in which no message is sent.
    ///
    /// The cost does not depend on the number of alerts.
    var hasTrouble: Bool { table.firingCount > 0 && mutedUntil == nil }

    /// What is wrong, for a heartbeat; empty if ``hasTrouble`` is false.
    var reasons: [String] {
        guard hasTrouble else { return [] }
        let oldest = table.oldest(Self.reasonsMax)
        let more = table.firingCount - oldest.count
        return oldest.map { "\(AlertText.subject($0.key)): \($0.detail)" }
            + (more > 0 ? ["and \(more) more"] : [])
    }

    /// What is wrong in one line, for the service manager; `nil` if nothing is.
    package var problem: String? {
        guard isActive else { return nil }
        if sender.isMute { return "no alert can be delivered" }
        let count = table.firingCount
        return count > 0 ? CountText.of(count, "alert") + (count == 1 ? " fires" : " fire") : nil
    }

    /// The check of the health; `nil` if the manifest asks for no alerts.
    package var check: HealthReport.Check? {
        guard isActive else { return nil }
        let failing = sender.statuses.filter { $0.failingSince != nil }
        if let first = failing.first {
            let more = failing.count > 1 ? " and \(failing.count - 1) more" : ""
            return HealthReport.Check(
                "alerts",
                sender.isMute ? .critical : .warning,
                since: failing.compactMap(\.failingSince).min(),
                "\(first.name)\(more) takes no alerts: \(first.error)",
                remedy: "correct `host.alerts`, then `bghost alerts test`"
            )
        }
        guard let oldest = table.oldest(1).first else {
            return HealthReport.Check("alerts", .ok, "no alert fires")
        }
        let count = table.firingCount
        let more = count > 1 ? " and \(count - 1) more" : ""
        return HealthReport.Check(
            "alerts",
            .warning,
            since: oldest.since,
            "alert: \(AlertText.subject(oldest.key))\(more)",
            remedy: "`bghost alerts` lists what fires"
        )
    }

    /// The number of alerts that fire, by rule; each rule has one.
    package var firing: [(rule: String, count: Int)] {
        AlertRule.allCases.map { ($0.rawValue, table.firing[$0] ?? 0) }
    }

    package func report(heartbeat: HeartbeatStatus?) -> AlertReport {
        AlertReport(
            alerts: table.statuses.map {
                AlertStatus(
                    rule: $0.key.rule.rawValue,
                    subject: $0.key.subject,
                    since: $0.since,
                    detail: $0.detail,
                    toldAt: $0.toldAt
                )
            },
            receivers: sender.statuses,
            mutedUntil: mutedUntil,
            heartbeat: heartbeat
        )
    }

    /// Sends a test to each receiver, and returns what they answered.
    package nonisolated(nonsending) func test() async throws(OperatorRefusal) -> [AlertTest] {
        guard sender.hasReceivers else {
            throw OperatorRefusal(
                .noReceiver,
                "the manifest names no receiver of alerts",
                fix: "add `\"alerts\": {\"to\": […]}` to `host` and reload"
            )
        }
        return await sender.test()
    }
}
