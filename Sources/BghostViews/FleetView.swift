// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost status --fleet`.
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
        guard !status.hosts.isEmpty else { return text }
        var table = TextTable(header: ["HOST", "VERSION", "LEASE", "LAST SEEN", "CLAIMS"])
        for host in status.hosts {
            let isLive = host.leaseLeft > 0
            table.add([
                Self.cell(TerminalText.escaped(host.name), isLive),
                .init(TerminalText.escaped(host.version)),
                Self.cell(isLive ? Self.text(host.leaseLeft) : "ended", isLive),
                .init(HumanText.time(host.seenAt, now: now)),
                .init("\(host.claims)"),
            ])
        }
        text += table.text(style)
        return text
    }

    private static func cell(_ text: String, _ isLive: Bool) -> TextTable.Cell {
        isLive ? .init(text) : .init(text, .warning)
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
