// SPDX-License-Identifier: Apache-2.0
import BghostPlugin
import Glibc

/// All memory of one call: the values of its arguments, the memory that they point to, and its
/// result.
///
/// The C function may use it until the call is over; for a function with `done` that is later than
/// its return, and on another thread. It is `Sendable` although it is raw memory, because the host
/// accesses it only at two times, which the call's lock orders: before the function is entered, and
/// when both its return and its `done` are known.
final class CallMemory: @unchecked Sendable {
    private var blocks: [UnsafeMutableRawPointer] = []

    /// Allocates zeroed memory, aligned for every C type, which lasts as long as the call.
    func zeros(_ count: Int) throws(FunctionError) -> UnsafeMutableRawPointer {
        // One byte more, so that every block ends in a NUL and no text is unterminated.
        guard let block = calloc(1, count + 1) else { throw .outOfMemory }
        blocks.append(block)
        return block
    }

    /// Copies bytes into the call's memory, with a NUL after them.
    func copy(_ bytes: some Collection<UInt8>) throws(FunctionError) -> UnsafeMutableRawPointer {
        let block = try zeros(bytes.count)
        UnsafeMutableRawBufferPointer(start: block, count: bytes.count).copyBytes(from: bytes)
        return block
    }

    deinit { blocks.forEach { free($0) } }
}
