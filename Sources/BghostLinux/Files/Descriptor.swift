// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A system call that failed: what was attempted, on what, and the kernel's number.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public let operation: String
    public let subject: String
    public let code: Int32

    public init(_ operation: String, _ subject: String = "", code: Int32) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// The kernel's words for the number, such as "No such file or directory".
    public var reason: String { String(cString: strerror(code)) }

    public var description: String {
        subject.isEmpty
            ? "\(operation): \(reason)" : "\(operation) \(subject): \(reason)"
    }
}

/// Turns the answer of a shim, negative on failure, into a value or an error.
@discardableResult
public func checked<T: SignedInteger>(
    _ result: T,
    _ operation: @autoclosure () -> String,
    _ subject: @autoclosure () -> String = ""
) throws(SystemError) -> T {
    guard result >= 0 else {
        throw SystemError(operation(), subject(), code: Int32(truncatingIfNeeded: -result))
    }
    return result
}

/// An open file descriptor with one owner, closed with it.
public struct Descriptor: ~Copyable {
    public let raw: Int32

    /// Takes over a descriptor that somebody opened.
    public init(owning raw: Int32) {
        self.raw = raw
    }

    /// Gives the descriptor up without closing it.
    public consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    deinit {
        close(raw)
    }
}
