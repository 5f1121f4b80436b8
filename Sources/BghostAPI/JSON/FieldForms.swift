// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

/// How a value of the domain is written in JSON.
package protocol FieldForm: Sendable {
    associatedtype Value: Equatable & Sendable
    associatedtype JSON: Codable & Sendable

    static func json(_ value: Value) -> JSON
    /// The value; `nil` if the JSON has no meaning in this form.
    static func value(_ json: JSON) -> Value?
}

extension FieldForm {
    fileprivate static func read(_ json: JSON) throws -> Value {
        guard let value = value(json) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "not of the form \(Self.self)")
            )
        }
        return value
    }
}

/// A time as RFC 3339 has it, in UTC with milliseconds; Unix nanoseconds in the daemon.
package enum RFC3339: FieldForm {
    package static func json(_ value: Int64) -> String { Timestamp.text(unixNanoseconds: value) }

    package static func value(_ json: String) -> Int64? { Timestamp.unixNanoseconds(json) }
}

/// A duration in seconds, to the microsecond.
package enum Seconds: FieldForm {
    package static func json(_ value: Duration) -> Double {
        // Divided once, so that 1.2 s is written `1.2`.
        Double(value.clampedNanoseconds / 1000) / 1_000_000
    }

    package static func value(_ json: Double) -> Duration? {
        guard json >= 0, json < 9e9 else { return nil }
        return .microseconds(Int64((json * 1_000_000).rounded()))
    }
}

/// A day of UTC, such as `2026-11-21`; the days since 1970-01-01 in the daemon.
package enum DateText: FieldForm {
    package static func json(_ value: Int64) -> String { RunDay.text(ofDay: value) }

    package static func value(_ json: String) -> Int64? { RunDay.day(from: json) }
}

/// The id of a run, a request or a transfer: a ULID of 26 characters.
package enum ULID: FieldForm {
    package static func json(_ value: RunID) -> String { value.description }

    package static func value(_ json: String) -> RunID? { RunID(json) }
}

/// A value in a form.
@propertyWrapper
package struct Formatted<Form: FieldForm>: Field {
    package var wrappedValue: Form.Value

    package init(wrappedValue: Form.Value) { self.wrappedValue = wrappedValue }

    package var json: Form.JSON? { Form.json(wrappedValue) }
    package init(json: Form.JSON) throws { wrappedValue = try Form.read(json) }
}

/// A value in a form, or null.
@propertyWrapper
package struct FormOrNull<Form: FieldForm>: LenientField {
    package var wrappedValue: Form.Value?

    package init(wrappedValue: Form.Value?) { self.wrappedValue = wrappedValue }

    package static var absent: FormOrNull { FormOrNull(wrappedValue: nil) }
    package var json: Form.JSON? { wrappedValue.map(Form.json) }
    package init(json: Form.JSON) throws { wrappedValue = try Form.read(json) }
}

/// A value in a form; the object does not have the key if there is none.
@propertyWrapper
package struct FormOrAbsent<Form: FieldForm>: LenientField {
    package var wrappedValue: Form.Value?

    package init(wrappedValue: Form.Value?) { self.wrappedValue = wrappedValue }

    package static var absent: FormOrAbsent { FormOrAbsent(wrappedValue: nil) }
    package static var isOmitted: Bool { true }
    package var json: Form.JSON? { wrappedValue.map(Form.json) }
    package init(json: Form.JSON) throws { wrappedValue = try Form.read(json) }
}

/// A value in a form that has a default.
@propertyWrapper
package struct FormOrDefault<Form: DefaultForm>: LenientField {
    package var wrappedValue: Form.Value

    package init(wrappedValue: Form.Value) { self.wrappedValue = wrappedValue }

    package static var absent: FormOrDefault { FormOrDefault(wrappedValue: Form.defaultValue) }
    package var json: Form.JSON? { Form.json(wrappedValue) }
    package init(json: Form.JSON) throws { wrappedValue = try Form.read(json) }
}

/// A form whose values have a natural default.
package protocol DefaultForm: FieldForm {
    static var defaultValue: Value { get }
}

extension Seconds: DefaultForm {
    package static var defaultValue: Duration { .zero }
}

/// An array of values in a form, empty if it is absent; elements that this version does not know are
/// skipped.
@propertyWrapper
package struct FormElements<Form: FieldForm>: LenientField {
    package var wrappedValue: [Form.Value]

    package init(wrappedValue: [Form.Value]) { self.wrappedValue = wrappedValue }

    package static var absent: FormElements { FormElements(wrappedValue: []) }
    package var json: KnownElements<Formatted<Form>>? {
        KnownElements(elements: wrappedValue.map(Formatted.init(wrappedValue:)))
    }
    package init(json: KnownElements<Formatted<Form>>) {
        wrappedValue = json.elements.map(\.wrappedValue)
    }
}
