// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostControl
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostTerminal
internal import BghostViews
internal import Glibc
internal import Synchronization

/// Writes the daemon's log to stderr, as text or as JSON lines, or to the system's journal.
///
/// It writes on a thread of its own, so a slow reader of stderr never delays the daemon. Lines that cannot be
/// written in time are dropped and counted.
final class ConsoleLog: LogConsole {
    private static let waitingMax = 4096

    private struct State {
        var waiting = 0
        var dropped = 0
        /// How often something was written.
        var writes = 0
        /// How many flushes were begun, and how many of them have ended.
        var flushes = 0
        var flushed = 0
    }

    private enum Form {
        case text(isDated: Bool)
        case json
        case journal(JournalSocket)
    }

    private let state = Mutex(State())
    private let thread = WorkThread()
    private let form: Form
    private let style: Style
    private let descriptor: Int32

    /// - Parameters:
    ///   - descriptor: where text is written.
    ///   - journalStream: the value of `JOURNAL_STREAM`.
    ///   - journalPath: the socket of the journal.
    init(
        format: LogFormat,
        console: Console,
        descriptor: Int32 = 2,
        journalStream: String? = ControlLocation.variable(of: "JOURNAL_STREAM"),
        journalPath: String = JournalSocket.path
    ) {
        style = console.error
        self.descriptor = descriptor
        let isTerminal = isatty(descriptor) == 1
        form =
            switch format {
            case .json: .json
            case .text: .text(isDated: !isTerminal)
            case .auto where isTerminal: .text(isDated: false)
            case .auto where JournalSocket.reads(descriptor, variable: journalStream):
                // Without a descriptor for the socket, the journal still gets lines from stderr.
                (try? JournalSocket(path: journalPath)).map { .journal($0) } ?? .json
            case .auto: .json
            }
    }

    func write(_ entry: LogEntry) {
        let isTaken = state.withLock { state in
            guard state.waiting < Self.waitingMax else {
                state.dropped += 1
                return false
            }
            state.waiting += 1
            return true
        }
        guard isTaken else { return }
        thread.perform { [self] in
            let dropped = state.withLock { state in
                state.waiting -= 1
                defer { state.dropped = 0 }
                return state.dropped
            }
            if dropped > 0 { putDropped(dropped) }
            put(entry)
        }
    }

    /// Waits until all lines are written, or the reader has taken nothing for so many seconds.
    ///
    /// The last lines say why the daemon ended. On a busy machine the thread may get a processor late, and a slow reader
    /// still reads.
    func flush(seconds: Int = 10) {
        let done = ThreadGate()
        let number: Int
        var writes: Int
        (number, writes) = state.withLock { state in
            state.flushes += 1
            return (state.flushes, state.writes)
        }
        thread.perform { [self] in
            state.withLock { $0.flushed += 1 }
            done.open()
        }
        while true {
            done.wait(seconds: seconds)
            let (isDone, now) = state.withLock { ($0.flushed >= number, $0.writes) }
            guard !isDone, now != writes else { return }
            writes = now
        }
    }

    private func put(_ entry: LogEntry) {
        switch form {
        case .text(let isDated): put(LogView.line(entry, style, isDated: isDated))
        case .json: put(APICoder.text(API.LogLine(entry)) + "\n")
        case .journal(let socket):
            guard !socket.send(JournalRecord(entry)) else { return noteWrite() }
            // stderr is a stream to the journal too, which reads the priority in front of a line.
            put("<\(entry.level.priority)>" + LogView.line(entry, style, isDated: true))
        }
    }

    private func putDropped(_ count: Int) {
        let text =
            CountText.of(count, "line") + " of the log"
            + (count == 1 ? " was" : " were") + " not written in time"
        guard case .journal(let socket) = form else { return put("... \(text)\n") }
        let entry = LogEntry(
            sequence: 0,
            time: unixNow(),
            level: .warning,
            source: .host,
            event: "log.dropped",
            message: text
        )
        if !socket.send(JournalRecord(entry)) { put("<\(entry.level.priority)>\(text)\n") }
    }

    private func put(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Glibc.write(
                    descriptor,
                    bytes.baseAddress.map { $0 + offset },
                    bytes.count - offset
                )
                guard count > 0 || errno == EINTR else { return }
                offset += max(0, count)
                noteWrite()
            }
        }
    }

    private func noteWrite() { state.withLock { $0.writes += 1 } }
}

extension JournalRecord {
    /// The fields of a line of the log.
    init(_ entry: LogEntry) {
        self.init()
        add("PRIORITY", "\(entry.level.priority)")
        add("SYSLOG_IDENTIFIER", "bghost")
        if let id = MessageID.table[entry.event] { add("MESSAGE_ID", id) }
        if !entry.event.isEmpty { add("BGHOST_EVENT", entry.event) }
        if let task = entry.task { add("BGHOST_TASK", task) }
        if let plugin = entry.plugin { add("BGHOST_PLUGIN", plugin) }
        if let run = entry.run { add("BGHOST_RUN", run.description) }
        if let trace = entry.trace { add("TRACE_ID", trace) }
        add("BGHOST_SOURCE", entry.source.rawValue)
        add("BGHOST_SEQUENCE", "\(entry.sequence)")
        addCut("MESSAGE", LogView.content(entry, Style(hasColor: false, hasUnicode: true)))
    }
}

extension LogEntry.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .fault: 2
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
