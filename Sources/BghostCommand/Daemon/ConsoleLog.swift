// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import Glibc
internal import Synchronization

/// Writes the daemon's log to stderr, as text or as JSON lines.
///
/// It writes on a thread of its own, so a slow reader of stderr never delays the daemon. Lines that cannot be
/// written in time are dropped and counted.
final class ConsoleLog: LogConsole {
    private static let waitingMax = 4096

    private struct State {
        var waiting = 0
        var dropped = 0
    }

    private let state = Mutex(State())
    private let thread = WorkThread()
    private let json: Bool
    private let style: Style

    init(format: LogFormat, console: Console) {
        style = console.error
        json =
            switch format {
            case .json: true
            case .text: false
            case .auto: isatty(2) == 0
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
            if dropped > 0 { put("... \(dropped) lines of the log were not written in time\n") }
            put(json ? JSONLine.of(entry) : LogView.line(entry, style))
        }
    }

    /// Waits until all lines are written, for at most one second.
    func flush() {
        let done = ThreadGate()
        thread.perform { done.open() }
        done.wait(seconds: 1)
    }

    private func put(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Glibc.write(
                    2,
                    bytes.baseAddress.map { $0 + offset },
                    bytes.count - offset
                )
                guard count > 0 || errno == EINTR else { return }
                offset += max(0, count)
            }
        }
    }
}

private enum JSONLine {
    static func of(_ entry: LogEntry) -> String {
        APICoder.text(API.LogLine(entry)) + "\n"
    }
}
