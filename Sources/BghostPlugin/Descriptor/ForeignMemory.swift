// SPDX-License-Identifier: Apache-2.0

import CBghostSystem
import Glibc

/// Reads memory at addresses that a plugin supplies and that may be invalid.
///
/// The kernel copies the bytes: an invalid pointer yields an error instead of a signal, and the
/// plugin cannot change the copy between a check and its use. Not for two threads at once.
struct ForeignMemory: ~Copyable {
    enum Fault: Error, Equatable {
        /// Part of the range is not mapped or not readable.
        case unreadable
        /// This process failed to read, for example for lack of descriptors.
        case system(errno: Int32)
    }

    private let ends: (Int32, Int32)

    init() throws(Fault) {
        var fds: [Int32] = [-1, -1]
        let answer = bgs_probe_open(&fds)
        guard answer == 0 else { throw .system(errno: -answer) }
        ends = (fds[0], fds[1])
    }

    deinit {
        close(ends.0)
        close(ends.1)
    }

    /// Fills a buffer from an address.
    func read(_ address: UnsafeRawPointer?, into buffer: UnsafeMutableRawBufferPointer)
        throws(Fault)
    {
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return }
        guard let address else { throw .unreadable }
        let start = UInt(bitPattern: address)
        guard !start.addingReportingOverflow(UInt(buffer.count)).overflow else {
            throw .unreadable
        }
        let fds = [ends.0, ends.1]
        switch bgs_probe_copy(fds, base, address, buffer.count) {
        case 0: return
        case -EFAULT: throw .unreadable
        case let answer: throw .system(errno: -answer)
        }
    }

    /// Copies bytes; the count must have been checked against a limit.
    func bytes(_ address: UnsafeRawPointer?, count: Int) throws(Fault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // The closure returns the error as a Result, since withUnsafeMutableBytes does not throw
        // typed errors.
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Fault) in try read(address, into: buffer) }
        }
        try result.get()
        return bytes
    }

    /// Copies the first `count` bytes over a C value for which every bit pattern is valid.
    func load<T: BitwiseCopyable>(_ address: UnsafeRawPointer?, over value: inout T, count: Int)
        throws(Fault)
    {
        let result = withUnsafeMutableBytes(of: &value) { whole in
            let part = UnsafeMutableRawBufferPointer(rebasing: whole.prefix(count))
            return Result { () throws(Fault) in try read(address, into: part) }
        }
        try result.get()
    }
}
