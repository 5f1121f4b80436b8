// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A failed system call: what was attempted, on what, and the error number.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    package let operation: String
    let subject: String
    package let code: Int32

    package init(_ operation: String, _ subject: String = "", code: Int32) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// Whether the failure is a shortage of a resource that may be available again later.
    package var isShortage: Bool { [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC].contains(code) }

    /// The system's text for the number, such as "No such file or directory".
    package var reason: String { String(cString: strerror(code)) }

    package var description: String {
        subject.isEmpty
            ? "\(operation): \(reason)" : "\(operation) \(subject): \(reason)"
    }
}

/// Converts the result of a C shim, negative on failure, to a value or an error.
@discardableResult
func checked<T: SignedInteger>(
    _ result: T,
    _ operation: @autoclosure () -> String,
    _ subject: @autoclosure () -> String = ""
) throws(SystemError) -> T {
    guard result >= 0 else {
        throw SystemError(operation(), subject(), code: Int32(truncatingIfNeeded: -result))
    }
    return result
}

/// An open file descriptor with one owner; it is closed when the owner releases it.
package struct Descriptor: ~Copyable {
    package let raw: Int32

    /// Takes ownership of an open descriptor.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    /// Duplicates a descriptor; the caller owns the copy.
    package static func copy(of fd: Int32) throws(SystemError) -> Int32 {
        let copy = fcntl(fd, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError("copy a descriptor", code: errno) }
        return copy
    }

    /// Opens `/dev/null` to read and write; the caller owns the descriptor.
    package static func null() throws(SystemError) -> Int32 {
        let fd = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard fd >= 0 else { throw SystemError("open", "/dev/null", code: errno) }
        return fd
    }

    /// Gives up ownership without closing the descriptor; the caller owns it.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    deinit {
        close(raw)
    }
}
