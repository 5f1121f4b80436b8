// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostTerminal
internal import BghostViews
internal import Glibc
internal import Synchronization

/// Shows the log and the progress of one run while it is under way.
///
/// On a terminal the progress is one line, which is drawn again below the log; elsewhere it is a line for each
/// tenth. Any thread may call it: a thread of its own writes, so that a slow terminal delays no run.
final class RunScreen: LogConsole {
    fileprivate struct State {
        var progress: RunProgress?
        /// The transfers that are not over, in the order in which they began.
        var transfers: [TransferView] = []
        /// Those that are: an older look at the engine may come after the end.
        var ended: Set<RunID> = []
        /// The last tenth of each that was shown, if this is no terminal.
        var tenths: [RunID: Int] = [:]
        /// Whether the line at the cursor is the progress.
        var isDrawn = false
        var tenth = -1
    }

    private let thread = WorkThread()
    private let state = Mutex(State())
    private let console: Console
    private let isJSON: Bool
    private let isTerminal: Bool
    private let isReady = Atomic<Bool>(false)
    /// Whether a worker has loaded the plugin.
    var hasReadyWorker: Bool { isReady.load(ordering: .acquiring) }

    init(_ console: Console, isJSON: Bool) {
        self.console = console
        self.isJSON = isJSON
        isTerminal = !isJSON && isatty(2) == 1
    }

    /// What the end of the run says too, or is of this command's own doing.
    private static let hidden: Set<String> = ["fact.simulated", "run.ended", "worker.ended"]

    /// Shows a line of the log: each of the plugin, and of the host what an author must know.
    func write(_ entry: LogEntry) {
        if entry.event == "worker.ready" { isReady.store(true, ordering: .releasing) }
        guard
            entry.source != .host
                || entry.level >= .warning && !Self.hidden.contains(entry.event)
        else { return }
        thread.perform { [self] in
            if isJSON { return console.answer(json: APICoder.text(API.LogLine(entry))) }
            erase()
            let line = LogView.line(entry, console.error)
            console.remark(String(line.dropLast()))
            draw()
        }
    }

    /// Shows how far the run is, if that has changed.
    func show(_ progress: RunProgress) {
        thread.perform { [self] in
            let isNew = state.withLock { state in
                guard state.progress != progress else { return false }
                state.progress = progress
                return true
            }
            guard isNew else { return }
            if isJSON {
                let value = API.Progress(progress)
                console.answer(json: APICoder.text(Schema.progress, value))
            } else if isTerminal {
                erase()
                draw()
            } else {
                remarkTenth(of: progress)
            }
        }
    }

    /// Shows how far a transfer is, or how it ended, if that has changed.
    func show(_ transfer: TransferView) {
        thread.perform { [self] in
            guard state.withLock({ $0.note(transfer) }) else { return }
            if isJSON {
                let answer = API.TransferAnswer(transfer: transfer)
                return console.answer(json: APICoder.text(Schema.transfer, answer))
            }
            erase()
            if transfer.isOver || !isTerminal && state.withLock({ $0.isNewTenth(of: transfer) }) {
                console.remark(line(of: transfer))
            }
            draw()
        }
    }

    /// Shows a line about the command itself.
    func remark(_ text: String) {
        thread.perform { [self] in
            erase()
            console.remark(text)
            draw()
        }
    }

    /// Removes the line of progress, and waits until everything is written.
    func finish() {
        let done = ThreadGate()
        thread.perform { [self] in
            erase()
            done.open()
        }
        done.wait(seconds: 10)
        thread.end()
    }

    // MARK: On the thread

    private func erase() {
        let wasDrawn = state.withLock { state in
            defer { state.isDrawn = false }
            return state.isDrawn
        }
        if wasDrawn { console.prompt("\r\u{1B}[2K") }
    }

    /// Draws the line of what is under way: one line, since only that can be erased.
    private func draw() {
        guard isTerminal else { return }
        let (progress, transfers) = state.withLock { ($0.progress, $0.transfers) }
        var parts = progress.map { [$0.text] } ?? []
        parts += transfers.prefix(3).map { TransfersView.standing($0, console.error) }
        if transfers.count > 3 { parts.append("\(transfers.count - 3) more") }
        guard !parts.isEmpty else { return }
        let text = parts.joined(separator: console.error.hasUnicode ? " · " : "; ")
        let line = console.error.cut(text, to: max(20, (TerminalSize.of(2)?.columns ?? 80) - 1))
        console.prompt(console.error.painted(line, .dim))
        state.withLock { $0.isDrawn = true }
    }

    private func line(of transfer: TransferView) -> String {
        let mark: Style.Mark =
            switch transfer.stateName {
            case "done": .good
            case "failed", "cancelled": .bad
            default: .none
            }
        let text = TransfersView.standing(transfer, console.error)
        return mark == .none ? text : "\(console.error.painted(mark)) \(text)"
    }

    private func remarkTenth(of progress: RunProgress) {
        let tenth = progress.percent.map { $0 / 10 } ?? 0
        let isNew = state.withLock { state in
            defer { state.tenth = tenth }
            return state.tenth != tenth
        }
        if isNew { console.remark(progress.text) }
    }
}

extension RunScreen.State {
    /// Takes up the state of a transfer.
    ///
    /// - Returns: whether it is news.
    fileprivate mutating func note(_ transfer: TransferView) -> Bool {
        guard !ended.contains(transfer.id) else { return false }
        let index = transfers.firstIndex { $0.id == transfer.id }
        if transfer.isOver {
            ended.insert(transfer.id)
            tenths[transfer.id] = nil
            if let index { transfers.remove(at: index) }
            return true
        }
        guard let index else {
            transfers.append(transfer)
            return true
        }
        guard transfers[index] != transfer else { return false }
        transfers[index] = transfer
        return true
    }

    /// Whether a transfer has reached another tenth of its bytes, or has begun.
    fileprivate mutating func isNewTenth(of transfer: TransferView) -> Bool {
        let tenth = transfer.percent.map { $0 / 10 } ?? 0
        defer { tenths[transfer.id] = tenth }
        return tenths[transfer.id] != tenth
    }
}
