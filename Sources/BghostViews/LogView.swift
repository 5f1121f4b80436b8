// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostModel
package import BghostTerminal

/// The text of a log entry.
package enum LogView {
    /// The line, with its line break.
    ///
    /// - Parameter isDated: whether it has the date and the time in UTC, for a file that is read later,
    ///   instead of the local time of day.
    package static func line(_ entry: LogEntry, _ style: Style, isDated: Bool = false) -> String {
        let time =
            isDated
            ? Timestamp.text(unixNanoseconds: entry.time) : HumanText.clock(entry.time)
        return [
            style.painted(time, .dim),
            style.painted(DisplayWidth.padded(entry.level.text, to: 7), tone(entry.level)),
            content(entry, style),
        ].joined(separator: " ") + "\n"
    }

    /// What the line is about, and its message, without a line break.
    package static func content(_ entry: LogEntry, _ style: Style) -> String {
        var parts: [String] = []
        // The host's entries name a task, those of a plugin the plugin.
        if let subject = entry.task ?? entry.plugin {
            parts.append(style.painted(TerminalText.escaped(subject), .strong))
        }
        if entry.source == .stdout || entry.source == .stderr {
            parts.append(style.painted(entry.source.rawValue, .dim))
        }
        parts.append(TerminalText.escaped(entry.message))
        return parts.joined(separator: " ")
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
