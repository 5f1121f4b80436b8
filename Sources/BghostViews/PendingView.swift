// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost pending`.
package struct PendingView {
    package let list: PendingList
    /// Unix nanoseconds.
    package let now: Int64

    package init(list: PendingList, now: Int64) {
        self.list = list
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let more = NextPageView(next: list.next).text
        guard !list.requests.isEmpty else {
            return more.isEmpty ? "no pending requests\n" : more
        }
        var table = TextTable(header: [
            "REQUEST", "TASK", "EARLIEST", "LATEST", "ATTEMPT", "PRIORITY", "BY", "WHY",
        ])
        for request in list.requests {
            table.add([
                .init(request.id.description),
                .init(TerminalText.escaped(request.task)),
                .init(request.earliestBegin.map { HumanText.time($0, now: now) } ?? ""),
                .init(request.latestBegin.map { HumanText.time($0, now: now) } ?? ""),
                .init(attempt(request)),
                .init("\(request.priority)"),
                .init(submitter(request)),
                .init(TerminalText.escaped(request.waitingFor.joined(separator: "; ")), .dim),
            ])
        }
        let of = list.next == nil ? nil : list.total.map { "\(list.requests.count) of \($0); " }
        return table.text(style) + (of ?? "") + more
    }

    private func attempt(_ request: PendingRequest) -> String {
        let counts = request.counters
        var parts: [String] = []
        if counts.failures > 0 { parts.append("\(counts.failures) failed") }
        if counts.losses > 0 { parts.append("\(counts.losses) lost") }
        if counts.interruptions > 0 { parts.append("\(counts.interruptions) interrupted") }
        return "\(request.attempt)" + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
    }

    private func submitter(_ request: PendingRequest) -> String {
        if request.isManual { return "trigger" }
        return switch request.submitter {
        case .operator: "operator"
        case .manifest: "manifest"
        case .run(let id), .predecessor(let id): "run \(id)"
        case .plugin(let name): "plugin \(name)"
        }
    }
}
