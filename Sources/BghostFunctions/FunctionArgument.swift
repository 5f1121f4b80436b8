// SPDX-License-Identifier: Apache-2.0

/// An argument of a C function, and the source of its value.
package struct FunctionArgument: Equatable, Sendable {
    package var name: String?
    package var passing: Passing
    /// The value if the parameters of the run do not contain the argument.
    package var preset: Preset?

    init(name: String? = nil, passing: Passing, preset: Preset? = nil) {
        self.name = name
        self.passing = passing
        self.preset = preset
    }

    /// The form in which the C function receives the argument.
    package enum Passing: Equatable, Sendable {
        /// The value itself.
        case value(ForeignType)
        /// A pointer to bytes that the function may read.
        case bytes
        /// A pointer to one value, which is zero or, if `given`, from the parameters. The value after the
        /// call is part of the result.
        case reference(ForeignType, given: Bool)
        /// A pointer to memory that the function writes to.
        case buffer(OutputBuffer)
        /// `void (*)(int status)`, or with text `void (*)(int status, const char *text)`: ends the run; may
        /// be called on any thread.
        case done(text: Bool)
        /// `int (*)(void)`: returns a value other than 0 after the run was cancelled.
        case cancelled
    }

    /// A value in the signature.
    package enum Preset: Equatable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int128)
        case number(Double)
        case text(String)
        /// The length of another argument, bytes.
        case lengthOf(String)
        /// The capacity of another argument, bytes.
        case capacityOf(String)
    }

    /// Whether the parameters of a run can contain its value.
    package var isGiven: Bool {
        switch passing {
        case .value, .bytes: true
        case .reference(_, let given): given
        case .buffer(let buffer): buffer.given
        case .done, .cancelled: false
        }
    }

    /// Whether its contents after the call are part of the result.
    package var isAnswered: Bool {
        switch passing {
        case .reference, .buffer: true
        case .value, .bytes, .done, .cancelled: false
        }
    }
}

/// A buffer of fixed size that a function writes to.
package struct OutputBuffer: Equatable, Sendable {
    /// The capacity, bytes.
    package var capacity: Int
    /// Whether it contains NUL-terminated text.
    package var text: Bool
    /// Whether its initial contents are from the parameters; otherwise they are zeros.
    var given: Bool
    package var filled: Filled

    init(capacity: Int, text: Bool, given: Bool, filled: Filled = .whole) {
        self.capacity = capacity
        self.text = text
        self.given = given
        self.filled = filled
    }

    /// The part of the buffer that is the result.
    package enum Filled: Equatable, Sendable {
        /// The whole buffer; for text, the part before the NUL.
        case whole
        /// The number of bytes that the function returns; none if it is negative.
        case result
        /// The number of bytes in an `out` or `inout` argument.
        case argument(String)
    }
}
