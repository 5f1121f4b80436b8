// SPDX-License-Identifier: Apache-2.0

/// One argument of a C function, and how the host comes by its value.
package struct FunctionArgument: Equatable, Sendable {
    package var name: String?
    package var passing: Passing
    /// What is passed where the parameters of the run do not name it.
    package var preset: Preset?

    package init(name: String? = nil, passing: Passing, preset: Preset? = nil) {
        self.name = name
        self.passing = passing
        self.preset = preset
    }

    /// What the C function is handed.
    package enum Passing: Equatable, Sendable {
        /// The value itself.
        case value(ForeignType)
        /// A pointer to bytes that the function may read.
        case bytes
        /// A pointer to one value: to zeros, or, if `given`, to a value from the parameters. What
        /// stands there after the call is part of the result.
        case reference(ForeignType, given: Bool)
        /// A pointer to memory that the function writes to.
        case buffer(OutputBuffer)
        /// `void (*)(int status)`, or with text `void (*)(int status, const char *text)`: ends the
        /// run, from any thread.
        case done(text: Bool)
        /// `int (*)(void)`: not 0 once the run is asked to stop.
        case cancelled
    }

    /// A value that stands in the signature.
    package enum Preset: Equatable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int128)
        case number(Double)
        case text(String)
        /// The number of bytes given for another argument.
        case lengthOf(String)
        /// The number of bytes that another argument has room for.
        case capacityOf(String)
    }

    /// Whether the parameters of a run can give it a value.
    package var isGiven: Bool {
        switch passing {
        case .value, .bytes: true
        case .reference(_, let given): given
        case .buffer(let buffer): buffer.given
        case .done, .cancelled: false
        }
    }

    /// Whether what the function leaves in it is part of the result.
    package var isAnswered: Bool {
        switch passing {
        case .reference, .buffer: true
        case .value, .bytes, .done, .cancelled: false
        }
    }
}

/// Memory of a fixed size for a function to write to.
package struct OutputBuffer: Equatable, Sendable {
    /// How much the function may write, bytes.
    package var capacity: Int
    /// Whether it holds NUL-terminated text.
    package var text: Bool
    /// Whether it starts with bytes from the parameters; else it starts with zeros.
    package var given: Bool
    package var filled: Filled

    package init(capacity: Int, text: Bool, given: Bool, filled: Filled = .whole) {
        self.capacity = capacity
        self.text = text
        self.given = given
        self.filled = filled
    }

    /// How much of it is the answer.
    package enum Filled: Equatable, Sendable {
        /// All of it, or, of text, what stands before the NUL.
        case whole
        /// As many bytes as the function's result says; none if that is negative.
        case result
        /// As many bytes as an `out` or `inout` argument says.
        case argument(String)
    }
}
