// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostControl
internal import BghostTerminal
internal import BghostViews
internal import Glibc

/// Shows the progress of transfers until all of them have ended.
struct TransferWatch {
    let console: Console
    let hasJSON: Bool

    /// The interval between queries.
    private static let period = Duration.milliseconds(200)

    func run(
        _ client: ControlClient,
        _ choose: ([TransferView]) -> [TransferView]
    ) async throws {
        let isLive = !hasJSON && isatty(1) == 1
        var screen = TransferScreen()
        while true {
            let views = choose(try await client.transfers().value)
            if hasJSON {
                for view in screen.changed(views) { console.answer(json: APICoder.text(view)) }
            } else if isLive {
                console.answer(screen.frame(views, now: unixNow(), console.out))
            } else {
                console.answer(screen.lines(views))
            }
            if views.allSatisfy(\.isOver) { return }
            try await Task.sleep(for: Self.period)
        }
    }

}

/// The last output for transfers, to find what is new.
struct TransferScreen {
    private var lineCount = 0
    private var tenths: [RunID: Int] = [:]
    private var over: Set<RunID> = []
    private var shown: [RunID: TransferView] = [:]

    init() {}

    /// The current state, written over the previous frame.
    mutating func frame(_ views: [TransferView], now: Int64, _ style: Style) -> String {
        let text = TransfersView(views, now: now).text(style)
        // Move to the first line and clear the screen below it.
        let back = lineCount > 0 ? "\u{1B}[\(lineCount)A\u{1B}[J" : ""
        lineCount = text.utf8.count { $0 == UInt8(ascii: "\n") }
        return back + text
    }

    /// One line for each further tenth, and one for each end.
    mutating func lines(_ views: [TransferView]) -> String {
        var text = ""
        for view in views {
            if let percent = view.percent, !view.isOver || view.stateName == "done" {
                let tenth = percent / 10
                if tenth > tenths[view.id] ?? -1 {
                    tenths[view.id] = tenth
                    text += TransfersView.line(view, percent: tenth * 10)
                }
            }
            if view.isOver, over.insert(view.id).inserted { text += TransfersView.end(view) }
        }
        return text
    }

    /// The transfers that have changed since the last call.
    mutating func changed(_ views: [TransferView]) -> [TransferView] {
        let new = views.filter { shown[$0.id] != $0 }
        for view in new { shown[view.id] = view }
        return new
    }
}
