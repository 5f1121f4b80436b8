// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension CalendarExpression {
    /// The maximum length of a calendar, bytes: enough for a list of all seconds and all minutes.
    static let bytesMax = 1024

    /// Parses cron's notation: minute, hour, day of the month, month and day of the week, with an optional
    /// second before them, or a macro such as `@daily`.
    ///
    /// The two fields for days combine as in POSIX: if both are restricted (neither is a star), a day must
    /// match one of them, otherwise both.
    package init(_ text: String) throws(CalendarError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw CalendarError(
                kind: .tooLong,
                offset: Self.bytesMax,
                length: text.utf8.count - Self.bytesMax,
                message: "the calendar has \(text.utf8.count) bytes",
                help: "it may have \(Self.bytesMax); ranges and steps are shorter than lists"
            )
        }
        var reader = CalendarReader(bytes: Array(text.utf8))
        try reader.readAll()
        try self.init(
            text: text,
            days: reader.days,
            times: TimeOfDaySet(
                hours: reader.hours,
                minutes: reader.minutes,
                seconds: reader.seconds
            ),
            hasWildcardHour: reader.hasWildcardHour
        )
    }
}

/// Parses the fields of a calendar from left to right.
private struct CalendarReader {
    private let bytes: [UInt8]
    private(set) var seconds: UInt64 = 1
    private(set) var minutes: UInt64 = 0
    private(set) var hours: UInt64 = 0
    private(set) var hasWildcardHour = false
    private(set) var days = DaySet()

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func readAll() throws(CalendarError) {
        let words = split(bytes.indices) { $0 == .space || $0 == .tab }.filter { !$0.isEmpty }
        if let first = words.first, bytes[first.lowerBound] == UInt8(ascii: "@") {
            return try readMacro(first, isAlone: words.count == 1)
        }
        guard words.count == 5 || words.count == 6 else {
            throw CalendarError(
                kind: .fieldCount(words.count),
                offset: words.first?.lowerBound ?? 0,
                length: (words.last?.upperBound ?? 0) - (words.first?.lowerBound ?? 0),
                message: "the calendar has \(words.count) field\(words.count == 1 ? "" : "s")",
                help: "write minute, hour, day of the month, month and day of the week, as in "
                    + "`0 12 * * *`, with a second before them if needed"
            )
        }
        for (field, word) in zip(CalendarField.allCases.suffix(words.count), words) {
            try read(field, word)
        }
    }

    private mutating func readMacro(_ word: Range<Int>, isAlone: Bool) throws(CalendarError) {
        minutes = 1
        hours = 1
        days.anyWeekday = true
        days.weekdays = 0x7F
        days.days = 2
        switch isAlone ? string(word).lowercased() : "" {
        case "@yearly", "@annually":
            days.months = 2
        case "@monthly":
            break
        case "@weekly":
            days.anyWeekday = false
            days.weekdays = 1
            setAnyDay()
        case "@daily", "@midnight":
            setAnyDay()
        case "@hourly":
            setAnyDay()
            hours = Self.full(0...23)
            hasWildcardHour = true
        default:
            throw fault(
                .unknownMacro,
                isAlone ? word : word.lowerBound..<bytes.count,
                "\(string(isAlone ? word : word.lowerBound..<bytes.count).quoted) is no macro",
                "there are @hourly, @daily, @weekly, @monthly and @yearly, each alone"
            )
        }
    }

    private mutating func setAnyDay() {
        days.anyDay = true
        days.days = Self.full(1...31)
    }

    // MARK: - Fields

    private mutating func read(_ field: CalendarField, _ word: Range<Int>) throws(CalendarError) {
        var set: UInt64 = 0
        var hasStar = false
        var hasStep = false
        for element in split(word, where: { $0 == UInt8(ascii: ",") }) {
            guard !element.isEmpty else {
                throw fault(
                    .malformed,
                    element,
                    "an element of the list in the field for the \(field.title) is missing",
                    "remove the comma or write what it separates"
                )
            }
            if try readSpecial(field, element) { continue }
            let parts = try stepParts(field, element)
            hasStep = hasStep || parts.step != nil
            let range: ClosedRange<Int>
            if isWildcard(field, parts.body) {
                hasStar = true
                range = field == .dayOfWeek ? 0...6 : field.range
            } else {
                range = try readRange(field, parts.body, hasStep: parts.step != nil)
            }
            let step = parts.step ?? 1
            for value in stride(from: range.lowerBound, through: range.upperBound, by: step) {
                set |= 1 &<< UInt64(value)
            }
        }
        switch field {
        case .second: seconds = set
        case .minute: minutes = set
        case .hour:
            hours = set
            hasWildcardHour = hasStar || hasStep
        case .dayOfMonth:
            days.days = set
            days.anyDay = hasStar
        case .month: days.months = set
        case .dayOfWeek:
            days.weekdays = (set | set &>> 7) & 0x7F
            days.anyWeekday = hasStar
        }
    }

    private func isWildcard(_ field: CalendarField, _ body: Range<Int>) -> Bool {
        guard body.count == 1 else { return false }
        let byte = bytes[body.lowerBound]
        return byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") && field.takesQuestionMark
    }

    /// The part before a step, and the step.
    private func stepParts(
        _ field: CalendarField,
        _ element: Range<Int>
    ) throws(CalendarError) -> (body: Range<Int>, step: Int?) {
        guard let slash = bytes[element].firstIndex(of: UInt8(ascii: "/")) else {
            return (element, nil)
        }
        let part = slash + 1..<element.upperBound
        guard let step = number(part) else {
            throw fault(
                .malformed,
                part,
                "\(string(part).quoted) is no step",
                "a step is a number, as in */5"
            )
        }
        guard (1...field.range.upperBound).contains(step) else {
            throw fault(
                .outOfRange,
                part,
                "a step of \(string(part)) for the \(field.title)",
                "it may be from 1 to \(field.range.upperBound)"
            )
        }
        return (element.lowerBound..<slash, step)
    }

    private func readRange(
        _ field: CalendarField,
        _ body: Range<Int>,
        hasStep: Bool
    ) throws(CalendarError) -> ClosedRange<Int> {
        guard let dash = bytes[body].firstIndex(of: UInt8(ascii: "-")) else {
            let value = try value(field, body)
            guard !hasStep else {
                let word = string(body)
                throw fault(
                    .malformed,
                    body,
                    "a step stands behind the single \(field.title) \(word)",
                    "write where it ends, as in \(word)-\(field.range.upperBound)/5"
                )
            }
            return value...value
        }
        let low = try value(field, body.lowerBound..<dash)
        var high = try value(field, dash + 1..<body.upperBound)
        // A week that ends on Sunday, such as `sat-sun`.
        if field == .dayOfWeek, high == 0, low > 0 { high = 7 }
        guard low <= high else {
            let (first, last) = (field.range.lowerBound, field.range.upperBound)
            let end = field == .dayOfWeek ? 6 : last
            throw fault(
                .backwardRange,
                body,
                "the range \(string(body).quoted) ends before it begins",
                "write both parts of it: \(low)-\(end),\(first)-\(high)"
            )
        }
        return low...high
    }

    private func value(_ field: CalendarField, _ part: Range<Int>) throws(CalendarError) -> Int {
        guard let value = number(part) else {
            let word = string(part)
            if let index = field.names.firstIndex(of: word.lowercased()) {
                return field.range.lowerBound + index
            }
            let found = part.isEmpty ? "nothing" : word.quoted
            throw fault(.malformed, part, "\(found) stands for the \(field.title)", field.help)
        }
        guard field.range.contains(value) else {
            throw fault(
                .outOfRange,
                part,
                "\(string(part).quoted) is no \(field.title)",
                "it may be from \(field.range.lowerBound) to \(field.range.upperBound)"
            )
        }
        return value
    }

    // MARK: - Days that depend on the month

    /// Parses an element that only a field for days can have.
    ///
    /// - Returns: `false` if it is another element.
    private mutating func readSpecial(
        _ field: CalendarField,
        _ element: Range<Int>
    ) throws(CalendarError) -> Bool {
        let last = bytes[element.upperBound - 1] & ~0x20
        let body = element.dropLast()
        switch field {
        case .dayOfMonth where last == UInt8(ascii: "L") && body.isEmpty:
            days.hasLastDay = true
        case .dayOfMonth where last == UInt8(ascii: "W") && string(body).lowercased() == "l":
            days.hasLastWorkday = true
        case .dayOfMonth where last == UInt8(ascii: "W") && number(body) != nil:
            days.nearestWorkdays |= 1 &<< UInt64(try value(field, body))
        case .dayOfWeek where last == UInt8(ascii: "L") && body.isEmpty:
            throw fault(
                .malformed,
                element,
                "L stands alone for the day of the week",
                "say which day: 5L is the last Friday of the month"
            )
        case .dayOfWeek where last == UInt8(ascii: "L"):
            days.lastWeekdays |= 1 &<< UInt64(try value(field, body) % 7)
        case .dayOfWeek:
            guard let mark = bytes[element].firstIndex(of: UInt8(ascii: "#")) else { return false }
            let weekday = try value(field, element.lowerBound..<mark) % 7
            let part = mark + 1..<element.upperBound
            guard let week = number(part), (1...5).contains(week) else {
                throw fault(
                    .outOfRange,
                    part,
                    "\(string(part).quoted) stands for the week of the month",
                    "it may be from 1 to 5, as in 2#1, the first Tuesday"
                )
            }
            days.numberedWeekdays |= 1 &<< UInt64(7 * (week - 1) + weekday)
        default: return false
        }
        return true
    }

    // MARK: - Bytes

    /// Parses a number of up to nine digits, more than any field needs.
    private func number(_ part: Range<Int>) -> Int? {
        guard !part.isEmpty, part.count <= 9 else { return nil }
        var number = 0
        for byte in bytes[part] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    private func string(_ part: Range<Int>) -> String {
        String(decoding: bytes[part], as: UTF8.self)
    }

    private func split(_ part: Range<Int>, where isSeparator: (UInt8) -> Bool) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = part.lowerBound
        for index in part where isSeparator(bytes[index]) {
            parts.append(start..<index)
            start = index + 1
        }
        return parts + [start..<part.upperBound]
    }

    private static func full(_ range: ClosedRange<Int>) -> UInt64 {
        range.reduce(0) { $0 | 1 &<< UInt64($1) }
    }

    private func fault(
        _ kind: CalendarError.Kind,
        _ part: Range<Int>,
        _ message: String,
        _ help: String
    ) -> CalendarError {
        CalendarError(
            kind: kind,
            offset: part.lowerBound,
            length: part.count,
            message: message,
            help: help
        )
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")
}
