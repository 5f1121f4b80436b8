// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A system call that failed: what was attempted, on what, and the kernel's number.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    package let operation: String
    package let subject: String
    package let code: Int32

    package init(_ operation: String, _ subject: String = "", code: Int32) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// Whether the machine or this process has none left of something that it may have again.
    package var isShortage: Bool { [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC].contains(code) }

    /// The kernel's words for the number, such as "No such file or directory".
    package var reason: String { String(cString: strerror(code)) }

    package var description: String {
        subject.isEmpty
            ? "\(operation): \(reason)" : "\(operation) \(subject): \(reason)"
    }
}

/// Turns the answer of a shim, negative on failure, into a value or an error.
@discardableResult
package func checked<T: SignedInteger>(
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
package struct Descriptor: ~Copyable {
    package let raw: Int32

    /// Takes over a descriptor that somebody opened.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    /// Another descriptor of the same open file, which the caller owns.
    package static func copy(of fd: Int32) throws(SystemError) -> Int32 {
        let copy = fcntl(fd, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError("copy a descriptor", code: errno) }
        return copy
    }

    /// Gives the descriptor up without closing it.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    deinit {
        close(raw)
    }
}
