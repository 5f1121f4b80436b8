// SPDX-License-Identifier: Apache-2.0
import Glibc

/// All memory of one call: the values of its arguments, what they point to, and its result.
///
/// The C function may use it until the call is over, which for a function with `done` is later than
/// its return and on another thread. It is `Sendable` although it is raw memory because our side
/// touches it at two times only, which are ordered by the call's lock: before the function is
/// entered, and once both its return and its `done` are known.
final class CallMemory: @unchecked Sendable {
    private var blocks: [UnsafeMutableRawPointer] = []

    /// Zeros for as long as the call lasts, aligned for every C type.
    func zeros(_ count: Int) throws(FunctionError) -> UnsafeMutableRawPointer {
        // Room for a NUL behind everything, so that no text of ours is ever unterminated.
        guard let block = calloc(1, count + 1) else { throw .outOfMemory }
        blocks.append(block)
        return block
    }

    /// A copy of bytes, with a NUL behind them.
    func copy(_ bytes: some Collection<UInt8>) throws(FunctionError) -> UnsafeMutableRawPointer {
        let block = try zeros(bytes.count)
        UnsafeMutableRawBufferPointer(start: block, count: bytes.count).copyBytes(from: bytes)
        return block
    }

    deinit { blocks.forEach { free($0) } }
}
