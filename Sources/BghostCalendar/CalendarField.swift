// SPDX-License-Identifier: Apache-2.0

/// One of the six fields of a calendar.
enum CalendarField: CaseIterable, Sendable {
    case second, minute, hour, dayOfMonth, month, dayOfWeek

    /// The name in messages.
    var title: String {
        switch self {
        case .second: "second"
        case .minute: "minute"
        case .hour: "hour"
        case .dayOfMonth: "day of the month"
        case .month: "month"
        case .dayOfWeek: "day of the week"
        }
    }

    /// The valid numbers.
    var range: ClosedRange<Int> {
        switch self {
        case .second, .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        // Both 0 and 7 are Sunday.
        case .dayOfWeek: 0...7
        }
    }

    /// The words for numbers, from the smallest number on.
    var names: [String] {
        switch self {
        case .month:
            [
                "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
            ]
        case .dayOfWeek: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        default: []
        }
    }

    /// Whether `?` is permitted in place of the star.
    var takesQuestionMark: Bool { self == .dayOfMonth || self == .dayOfWeek }

    /// The valid contents, for messages.
    var help: String {
        let numbers = "\(range.lowerBound)-\(range.upperBound)"
        let words =
            switch self {
            case .dayOfMonth: ", L (the last day), LW, 15W (the nearest workday) or ?"
            case .month: " or jan-dec"
            case .dayOfWeek: ", sun-sat, 5L (the last Friday), 2#1 (the first Tuesday) or ?"
            default: ""
            }
        return "it takes *, \(numbers)\(words), lists (1,5), ranges (1-5) and steps (*/5, 1-5/2)"
    }
}
