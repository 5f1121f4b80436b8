// SPDX-License-Identifier: Apache-2.0

/// Why a text is no calendar: what was found where, and what would be right.
package struct CalendarError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with it, for programs.
    package enum Kind: Equatable, Sendable {
        /// It has more bytes than any calendar needs.
        case tooLong
        /// It has neither five nor six fields.
        case fieldCount(Int)
        /// It begins with `@` and is no macro.
        case unknownMacro
        /// It is not written as a field is.
        case malformed
        /// A number or step is outside the range of its field.
        case outOfRange
        /// A range ends before it begins.
        case backwardRange
        /// All of it can be read, but there is no such day.
        case neverComes
    }

    package var kind: Kind
    /// Where the wrong part begins: bytes of UTF-8 before it.
    package var offset: Int
    /// How many bytes the wrong part has; 0 where something is missing.
    package var length: Int
    /// What was found: a clause without a full stop.
    package var message: String
    /// What would be right: a clause without a full stop.
    package var help: String

    package var description: String { "byte \(offset): \(message); \(help)" }

    static func neverComes(_ text: String) -> CalendarError {
        CalendarError(
            kind: .neverComes,
            offset: 0,
            length: text.utf8.count,
            message: "the calendar \(text.quoted) never comes: none of its months has such a day",
            help: "name a day that exists; the last day of a month is L"
        )
    }
}
