// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The error for an invalid calendar: what was found where, and what is valid.
package struct CalendarError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of the error, for programs.
    enum Kind: Equatable, Sendable {
        /// The text is longer than any calendar needs.
        case tooLong
        /// The number of fields is neither five nor six.
        case fieldCount(Int)
        /// The text starts with `@` but is not a known macro.
        case unknownMacro
        /// A field has an invalid form.
        case malformed
        /// A number or step is outside the range of its field.
        case outOfRange
        /// The end of a range is before its start.
        case backwardRange
        /// The calendar is valid, but there is no such day.
        case neverComes
    }

    var kind: Kind
    /// The offset of the invalid part, UTF-8 bytes.
    package var offset: Int
    /// The length of the invalid part, bytes; 0 if something is missing.
    package var length: Int
    /// What was found, as a clause without a full stop.
    package var message: String
    /// What is valid, as a clause without a full stop.
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
