// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel

/// The text of a log entry.
enum LogView {
    /// The line, with its line break.
    static func line(_ entry: LogEntry, _ style: Style) -> String {
        var parts = [
            style.painted(HumanText.clock(entry.time), .dim),
            style.painted(DisplayWidth.padded(entry.level.text, to: 7), tone(entry.level)),
        ]
        // The host's entries name a task, those of a plugin the plugin.
        if let subject = entry.task ?? entry.plugin {
            parts.append(style.painted(TerminalText.escaped(subject), .strong))
        }
        if entry.source == .stdout || entry.source == .stderr {
            parts.append(style.painted(entry.source.rawValue, .dim))
        }
        parts.append(TerminalText.escaped(entry.message))
        return parts.joined(separator: " ") + "\n"
    }

    private static func tone(_ level: LogEntry.Level) -> Style.Tone? {
        switch level {
        case .trace, .debug: .dim
        case .info: nil
        case .warning: .warning
        case .error, .fault: .bad
        }
    }
}
