// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost fleet hosts` and `bghost status --fleet`.
package struct FleetView {
    private let status: FleetStatus
    /// Unix nanoseconds.
    private let now: Int64

    package init(status: FleetStatus, now: Int64) {
        self.status = status
        self.now = now
    }

    package func text(_ style: Style) -> String {
        guard !status.name.isEmpty else {
            return "this host is in no fleet; `host.fleet` of the manifest names one\n"
        }
        var text = "this host is \(TerminalText.escaped(status.name)); " + lease + "\n"
        if !status.problem.isEmpty {
            text += "the fleet does not answer: \(TerminalText.escaped(status.problem))\n"
        }
        if !status.partitionsProblem.isEmpty {
            let since = status.partitionsLostAt.map { HumanText.time($0, now: now) }
            text +=
                TerminalText.escaped(status.partitionsProblem)
                + (since.map { " (since \($0))" } ?? "") + "\n"
        }
        guard !status.hosts.isEmpty else { return text }
        // Only a fleet in which requests live has partitions with owners.
        let hasPartitions = status.hosts.contains { $0.partitions > 0 }
        var table = TextTable(
            header: ["HOST", "STATE", "LEASE", "CLAIMS"] + (hasPartitions ? ["PARTITIONS"] : [])
                + ["CLOCK", "VERSION", "LAST SEEN"]
        )
        for host in status.hosts {
            let isGone = host.state == .gone
            var row: [TextTable.Cell] = [
                Self.cell(TerminalText.escaped(host.name), isGone),
                Self.cell(host.state.rawValue, isGone),
                Self.cell(host.leaseLeft > 0 ? Self.text(host.leaseLeft) : "ended", isGone),
                .init("\(host.claims)"),
            ]
            if hasPartitions { row.append(.init("\(host.partitions)")) }
            row += [
                .init(host.clock.map(Self.text) ?? "-"),
                .init(TerminalText.escaped(host.version)),
                .init(HumanText.time(host.seenAt, now: now)),
            ]
            table.add(row)
        }
        text += table.text(style)
        return text
    }

    private static func cell(_ text: String, _ isGone: Bool) -> TextTable.Cell {
        isGone ? .init(text, .warning) : .init(text)
    }

    /// How much a clock is ahead, or at most; no sign if it may be either.
    private static func text(_ clock: FleetHost.Clock) -> String {
        let size = Int64(clamping: clock.offset.magnitude)
        let unit: Int64 = 1_000_000
        guard size > clock.error else {
            let bound = size.addingClamped(clock.error)
            return "±" + DurationText.of(nanoseconds: UInt64((bound / unit + 1) * unit))
        }
        let text = DurationText.of(nanoseconds: UInt64(max(1, size / unit) * unit))
        return (clock.offset > 0 ? "+" : "-") + text
    }

    private var lease: String {
        guard status.validFor > 0 else {
            return "it has no valid lease"
                + (status.lostAt.map { " since \(HumanText.time($0, now: now))" } ?? "")
                + ", so no task with `onceInFleet` starts"
        }
        return "its lease is valid for \(Self.text(status.validFor))"
    }

    private static func text(_ nanoseconds: Int64) -> String {
        DurationText.of(nanoseconds: UInt64(max(0, nanoseconds)) / 100_000_000 * 100_000_000)
    }
}
