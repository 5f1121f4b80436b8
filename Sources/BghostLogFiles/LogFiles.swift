// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
package import BghostModel
package import BghostServices
internal import Synchronization

/// The log's files: written by one thread, searched by another.
///
/// Any thread may use it. Lines wait for the thread that writes, up to 8,192 lines and 8 MiB, of which plugins may
/// use three quarters; what does not fit is dropped and counted. So a slow or full disk holds up this thread only.
package final class LogFiles: LogArchive {
    private struct State {
        var lines: [LogEntry] = []
        var bytes = 0
        /// Lines that did not fit, since the last piece of work was begun.
        var dropped = 0
        var lost: UInt64 = 0
        var isScheduled = false
        /// Whether lines wait for the file: before `apply` they do, and without a file they do not.
        var isWanted = true
        var hasFile = false
        var status: LogFileStatus?
        var settings = LogSettings()
        /// Where the lines of this daemon begin.
        var start: LogCursor?
        var onProblem: @Sendable (String?) -> Void = { _ in }
    }

    private static let linesMax = 8192
    private static let bytesMax = 8 << 20

    private let stateDirectory: String
    private let allowsUntrustedFiles: Bool
    private let state = Mutex(State())
    private let threads = Mutex(Threads())
    private let writer = WriterSlot()

    /// Started when they are needed: a daemon without a file has neither.
    private struct Threads {
        var writing: WorkThread?
        var searching: WorkThread?
    }

    private var thread: WorkThread {
        threads.withLock { threads in
            let thread = threads.writing ?? WorkThread()
            threads.writing = thread
            return thread
        }
    }

    private var searches: WorkThread {
        threads.withLock { threads in
            let thread = threads.searching ?? WorkThread()
            threads.searching = thread
            return thread
        }
    }

    /// Used on the thread that writes only.
    private final class WriterSlot: @unchecked Sendable {
        var writer: LogFileWriter?
        var problem: String?
    }

    /// Creates it without a file; lines wait for the first `apply`.
    ///
    /// - Parameters:
    ///   - stateDirectory: absolute; the file may be relative to it.
    ///   - allowsUntrustedFiles: whether other users may be able to replace the file.
    package init(stateDirectory: String, allowsUntrustedFiles: Bool = false) {
        self.stateDirectory = stateDirectory
        self.allowsUntrustedFiles = allowsUntrustedFiles
    }

    /// Sets what is called on the thread that writes when lines cannot be written any more, and with `nil` when
    /// they can again.
    package func onProblem(_ body: @escaping @Sendable (String?) -> Void) {
        state.withLock { $0.onProblem = body }
    }

    deinit {
        threads.withLock { threads in
            threads.writing?.end()
            threads.searching?.end()
        }
    }

    // MARK: Settings

    /// Prepares for the first settings; it blocks.
    ///
    /// - Throws: if the file is no ordinary file.
    package func prepare(_ settings: LogSettings) throws(LogFileError) {
        guard let path = path(settings) else {
            // An earlier daemon may have had a file.
            return LogFileRecord(nil, settings).write(to: stateDirectory)
        }
        try path.checkKind()
    }

    private func path(_ settings: LogSettings) -> LogPath? {
        guard let file = settings.file else { return nil }
        return LogPath(
            live: file.hasPrefix("/") ? file : "\(stateDirectory)/\(file)",
            allowsUntrustedFiles: allowsUntrustedFiles
        )
    }

    package func apply(_ settings: LogSettings) {
        let path = path(settings)
        let isNeeded = state.withLock { state in
            state.settings = settings
            state.isWanted = path != nil
            // Lines that came before the change belong to the file before, if there is one.
            if path == nil, !state.hasFile { (state.lines, state.bytes) = ([], 0) }
            return path != nil || state.hasFile
        }
        guard isNeeded else { return }
        thread.perform { [self] in take(settings, path) }
    }

    private func take(_ settings: LogSettings, _ path: LogPath?) {
        if let path {
            // Lines that came before the change belong to the file before.
            if let writer = writer.writer, writer.path != path { writeWaiting() }
            if let writer = writer.writer, writer.path == path {
                writer.format = settings.format
                writer.bytesMax = settings.bytesMax
                writer.olderFiles = settings.olderFiles
                writer.reopen()
            } else {
                writer.writer?.sync()
                writer.writer = LogFileWriter(path, settings)
                writer.writer?.begin()
            }
        } else {
            writeWaiting()
            writer.writer?.sync()
            writer.writer = nil
        }
        if path != nil { state.withLock { $0.hasFile = true } }
        LogFileRecord(path?.live, settings).write(to: stateDirectory)
        writeWaiting()
        report()
        if path == nil { state.withLock { ($0.hasFile, $0.start) = (false, nil) } }
    }

    package func reopen() {
        guard state.withLock({ $0.hasFile }) else { return }
        thread.perform { [self] in
            writer.writer?.reopen()
            report()
        }
    }

    // MARK: Lines

    package func write(_ entry: LogEntry) {
        let cost = entry.message.utf8.count + 256
        let isFirst = state.withLock { state in
            guard state.isWanted else { return false }
            // The daemon's lines say what is wrong, so a plugin must not take their room.
            let share = entry.source == .host ? 4 : 3
            guard state.lines.count < Self.linesMax / 4 * share,
                state.bytes + cost <= Self.bytesMax / 4 * share
            else {
                state.dropped += 1
                state.lost += 1
                return false
            }
            state.lines.append(entry)
            state.bytes += cost
            guard state.hasFile, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if isFirst { thread.perform { [self] in writeWaiting() } }
    }

    private func writeWaiting() {
        guard let file = writer.writer else { return }
        while true {
            let (lines, dropped) = state.withLock { state in
                defer { (state.lines, state.bytes, state.dropped) = ([], 0, 0) }
                state.isScheduled = !state.lines.isEmpty
                return (state.lines, state.dropped)
            }
            guard !lines.isEmpty else { break }
            file.write(lines, dropped: dropped)
            report()
        }
    }

    /// Passes the writer's state on to those who ask.
    private func report() {
        let file = writer.writer
        let problem = file?.problem?.description
        let isNew = (problem == nil) != (writer.problem == nil)
        writer.problem = problem
        let onProblem = state.withLock { state in
            guard let file else {
                state.status = nil
                return state.onProblem
            }
            var status = LogFileStatus(path: file.path.live, format: file.format)
            status.problem = problem
            status.problemSince = problem == nil ? nil : state.status?.problemSince ?? WallClock.now
            status.isMoved = file.isMoved
            status.lost = file.lost
            state.status = status
            state.start = file.start
            return state.onProblem
        }
        if isNew { onProblem(problem) }
    }

    /// Waits until all lines are written and on the disk, for at most so many seconds.
    package func flush(seconds: Int = 2) {
        guard let thread = threads.withLock({ $0.writing }) else { return }
        let done = ThreadGate()
        thread.perform { [self] in
            writeWaiting()
            writer.writer?.sync()
            done.open()
        }
        done.wait(seconds: seconds)
    }

    package var status: LogFileStatus? { state.withLock { $0.status } }

    // MARK: Searches

    package func search(_ search: LogSearch, _ body: @escaping @Sendable (LogFindings) -> Void) {
        searches.perform { [self] in
            // Lines that wait belong to the answer; a disk that hangs must not hold it up for long.
            let done = ThreadGate()
            thread.perform { [self] in
                writer.writer?.look()
                report()
                done.open()
            }
            done.wait(seconds: 1)
            let (settings, start) = state.withLock { ($0.settings, $0.start) }
            guard let path = path(settings) else { return body(LogFindings()) }
            body(LogFileReader(path: path, format: settings.format, start: start).search(search))
        }
    }
}
