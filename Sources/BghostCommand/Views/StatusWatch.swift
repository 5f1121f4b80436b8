// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostControl
internal import BghostTerminal
internal import Glibc
internal import UnixSignals

/// Draws a text on the terminal again and again, until Ctrl-C.
///
/// It uses the terminal's second screen, so that what was there before comes back at the end.
struct StatusWatch {
    let console: Console

    /// The pause between two frames.
    private static let period = Duration.seconds(2)

    func run(_ frame: @escaping @Sendable (Style) async throws -> String) async throws {
        guard TerminalSize.of(1) != nil else {
            throw CommandFailure(
                .usage,
                "--watch needs a terminal, and stdout is none",
                fix: "repeat `bghost status`, or follow `bghost logs -f`"
            )
        }
        let console = console
        // Trap the signals before the screen changes, so that each way out restores it.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        console.control(WatchScreen.enter)
        defer { console.control(WatchScreen.leave) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in signals { return } }
            group.addTask { try await Self.draw(frame, console) }
            // The first signal ends the drawing, and a fault ends the wait for a signal.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func draw(
        _ frame: @Sendable (Style) async throws -> String,
        _ console: Console
    ) async throws {
        while !Task.isCancelled {
            // The size may change between two frames.
            guard let size = TerminalSize.of(1) else { return }
            var style = console.out
            style.width = size.columns
            var text: String
            do {
                text = try await frame(style)
            } catch let fault as ControlFault where mayPass(fault) {
                // The daemon may restart.
                text = "\(TerminalText.escaped(fault.message))\n"
            }
            text = LocalTime.text(text)
            console.control(WatchScreen.frame(text, size))
            do {
                try await Task.sleep(for: period)
            } catch {
                return
            }
        }
    }

    private static func mayPass(_ fault: ControlFault) -> Bool {
        [.notRunning, .unavailable, .connectionLost, .stopping].contains(fault.code)
    }
}

/// The control sequences of a terminal for a screen that is drawn again and again.
enum WatchScreen {
    /// The second screen, without a cursor.
    static let enter = "\u{1B}[?1049h\u{1B}[?25l"
    static let leave = "\u{1B}[?25h\u{1B}[?1049l"

    /// The text over the previous one; what does not fit is left out, and the last line says so.
    static func frame(_ text: String, _ size: TerminalSize) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        if lines.last?.isEmpty == true { lines.removeLast() }
        if lines.count > size.rows {
            let left = lines.count - size.rows + 1
            lines = lines.prefix(size.rows - 1)
            lines.append("\(left) more \(left == 1 ? "line" : "lines")")
        }
        // Write over each line instead of clearing first, which would flicker.
        return "\u{1B}[H" + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
    }
}
