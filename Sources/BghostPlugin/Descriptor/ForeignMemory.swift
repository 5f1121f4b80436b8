// SPDX-License-Identifier: Apache-2.0

import CBghostSystem
import Glibc

/// Reads memory that a plugin points at, which need not be there.
///
/// The kernel does the reading: a wild pointer is an error and not a signal, and what has been read is
/// a copy that the plugin can no longer change between a check and its use. Not for two threads at once.
struct ForeignMemory: ~Copyable {
    enum Fault: Error, Equatable {
        /// Some of it is not mapped or not readable.
        case unreadable
        /// This process could not look, for want of descriptors for instance.
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
        // The closure hands its fault out by hand: withUnsafeMutableBytes only throws any error.
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Fault) in try read(address, into: buffer) }
        }
        try result.get()
        return bytes
    }

    /// Lays the first `count` bytes over a value of C, of which every pattern of bits is one.
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
