// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel

/// Writes and reads lines of the log's file.
///
/// A line of JSON or logfmt has all parts of an entry. Its last byte shows whether it is whole, so a line that a
/// crash has cut is not read as one.
enum LogLineFormat {
    /// The line, with its line break.
    static func line(_ entry: LogEntry, _ format: LogSettings.Format) -> [UInt8] {
        switch format {
        case .json: APICoder.json(API.LogLine(entry)) + [UInt8(ascii: "\n")]
        case .logfmt: logfmt(entry)
        case .text: Array(text(entry).utf8)
        }
    }

    /// Parses a line without its line break; `nil` if it is not a whole line of this format.
    static func entry(_ line: ArraySlice<UInt8>, _ format: LogSettings.Format) -> LogEntry? {
        switch format {
        case .json: json(line)
        case .logfmt: logfmt(line)
        case .text: nil
        }
    }

    /// Bytes that each matching line contains, so that others need not be parsed.
    static func needles(_ filter: LogFilter, _ format: LogSettings.Format) -> [[UInt8]] {
        let parts = [
            ("task", filter.task), ("plugin", filter.plugin), ("run", filter.run?.description),
        ]
        return parts.compactMap { key, value in
            guard let value, value.utf8.allSatisfy(isPlain) else { return nil }
            return Array((format == .json ? "\"\(key)\":\"\(value)\"" : "\(key)=\(value) ").utf8)
        }
    }

    // MARK: JSON

    /// By hand, since the decoder takes ten times as long and a search reads hundreds of thousands of lines.
    private static func json(_ line: ArraySlice<UInt8>) -> LogEntry? {
        // What is no JSON is no line: the rest of one that a crash has cut.
        guard line.last == UInt8(ascii: "}"), let node = try? JSONReader.parse(Array(line)),
            let members = node.object
        else { return nil }
        var fields: [String: String] = [:]
        for member in members {
            switch member.value.value {
            case .string(let text), .number(let text): fields[member.key] = text
            default: continue
            }
        }
        return entry(fields)
    }

    private static func entry(_ fields: [String: String]) -> LogEntry? {
        guard let time = fields["time"].flatMap({ Timestamp.unixNanoseconds($0) }),
            let level = fields["level"].flatMap({ LogEntry.Level(text: $0) }),
            let message = fields["message"]
        else { return nil }
        return LogEntry(
            sequence: fields["sequence"].flatMap { UInt64($0) } ?? 0,
            time: time,
            level: level,
            source: fields["source"].flatMap(LogEntry.Source.init) ?? .host,
            event: fields["event"] ?? "",
            message: PrintableText.escaped(message),
            task: fields["task"],
            plugin: fields["plugin"],
            run: fields["run"].flatMap { RunID($0) }
        )
    }

    // MARK: logfmt

    private static func logfmt(_ entry: LogEntry) -> [UInt8] {
        var line: [UInt8] = []
        func add(_ key: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            line += key.utf8
            line.append(UInt8(ascii: "="))
            value.utf8.allSatisfy(isPlain) ? line += value.utf8 : addQuoted(value)
            line.append(UInt8(ascii: " "))
        }
        func addQuoted(_ value: String) {
            line.append(UInt8(ascii: "\""))
            for byte in value.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    line.append(UInt8(ascii: "\\"))
                }
                // A line break would begin another line; the log has escaped it already.
                line.append(byte == UInt8(ascii: "\n") ? UInt8(ascii: " ") : byte)
            }
            line.append(UInt8(ascii: "\""))
        }
        add("time", Timestamp.text(unixNanoseconds: entry.time))
        add("level", entry.level.text)
        add("source", entry.source.rawValue)
        add("event", entry.event)
        add("task", entry.task)
        add("plugin", entry.plugin)
        add("run", entry.run?.description)
        add("trace", entry.trace)
        add("sequence", String(entry.sequence))
        // At the end and always quoted: a line without the last quote is not whole.
        line += "message=".utf8
        addQuoted(entry.message)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func logfmt(_ line: ArraySlice<UInt8>) -> LogEntry? {
        var fields: [String: String] = [:]
        var rest = line
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let key = String(decoding: rest[..<equals], as: UTF8.self)
            rest = rest[(equals + 1)...]
            guard rest.first == UInt8(ascii: "\"") else {
                guard let space = rest.firstIndex(of: UInt8(ascii: " ")) else { return nil }
                fields[key] = String(decoding: rest[..<space], as: UTF8.self)
                rest = rest[(space + 1)...]
                continue
            }
            guard let value = quoted(&rest) else { return nil }
            fields[key] = value
            if key == "message" { return rest.isEmpty ? entry(fields) : nil }
            guard rest.first == UInt8(ascii: " ") else { return nil }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Takes a value in quotes; `nil` if it has no end.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String? {
        var value: [UInt8] = []
        var bytes = rest.dropFirst()
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "\"") {
                rest = bytes
                return String(decoding: value, as: UTF8.self)
            }
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            guard let escaped = bytes.popFirst() else { return nil }
            value.append(escaped)
        }
        return nil
    }

    // MARK: Text

    /// The date and the time in UTC, the level, what the line is about, and the message.
    private static func text(_ entry: LogEntry) -> String {
        let level = entry.level.text
        var parts = [
            Timestamp.text(unixNanoseconds: entry.time),
            level + String(repeating: " ", count: max(0, 7 - level.utf8.count)),
        ]
        if let subject = entry.task ?? entry.plugin { parts.append(PrintableText.escaped(subject)) }
        if entry.source == .stdout || entry.source == .stderr {
            parts.append(entry.source.rawValue)
        }
        parts.append(PrintableText.escaped(entry.message))
        return parts.joined(separator: " ") + "\n"
    }
}
