// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The text output of `bghost pending --fleet` and `bghost dead --fleet`.
package struct FleetRequestsView {
    private let list: API.FleetRequests
    private let isDead: Bool
    /// Unix nanoseconds.
    private let now: Int64

    package init(list: API.FleetRequests, isDead: Bool, now: Int64) {
        self.list = list
        self.isDead = isDead
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let more = NextPageView(next: list.next).text
        guard !list.requests.isEmpty else {
            let what =
                isDead ? "no dead letters in the fleet\n" : "nothing waits or runs in the fleet\n"
            return more.isEmpty ? what : more
        }
        var table = TextTable(
            header: isDead
                ? ["REQUEST", "TASK", "DIED", "REASON", "HOST"]
                : ["REQUEST", "TASK", "STATE", "SUBMITTED", "EARLIEST", "ATTEMPT", "HOST"]
        )
        for listed in list.requests { table.add(isDead ? dead(listed) : waiting(listed)) }
        return table.text(style) + more
    }

    private func dead(_ listed: API.FleetRequest) -> [TextTable.Cell] {
        [
            .init(listed.request.id.description),
            .init(TerminalText.escaped(listed.request.task)),
            .init(listed.diedAt.map { HumanText.time($0, now: now) } ?? ""),
            .init(TerminalText.escaped(listed.reason), .bad),
            host(listed),
        ]
    }

    private func waiting(_ listed: API.FleetRequest) -> [TextTable.Cell] {
        let state = TerminalText.escaped(listed.state)
        return [
            .init(listed.request.id.description),
            .init(TerminalText.escaped(listed.request.task)),
            .init(listed.cancelled ? "\(state), cancelled" : state),
            .init(HumanText.time(listed.request.submittedAt, now: now)),
            .init(listed.request.earliestBegin.map { HumanText.time($0, now: now) } ?? ""),
            .init("\(listed.request.attempt)"),
            host(listed),
        ]
    }

    private func host(_ listed: API.FleetRequest) -> TextTable.Cell {
        listed.owner.map { .init(TerminalText.escaped($0)) } ?? .init("none", .warning)
    }
}
