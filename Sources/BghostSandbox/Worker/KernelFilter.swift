// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

extension FilterProgram {
    /// Compiles the filter of a policy for this machine.
    init(_ policy: SystemCallPolicy) {
        self.init(
            policy,
            on: Architecture(
                audit: bgs_call_architecture(),
                foreignFrom: bgs_foreign_calls_from()
            ),
            number: { UInt32(exactly: bgs_call_number($0)) }
        )
    }

    /// The kernel's form: eight bytes for each instruction, in this machine's byte order.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(instructions.count * 8)
        for instruction in instructions {
            withUnsafeBytes(of: instruction.code) { bytes.append(contentsOf: $0) }
            bytes.append(instruction.ifTrue)
            bytes.append(instruction.ifFalse)
            withUnsafeBytes(of: instruction.operand) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}

/// Installs seccomp filters.
enum KernelFilter {
    /// Whether the kernel itself can prevent writable memory from becoming executable.
    static var kernelForbidsWritableCode: Bool { bgs_forbids_writable_code() != 0 }

    /// - Parameter ownProcess: the indices of instructions whose operand becomes this process's id.
    /// - Returns: 0 or a negative `errno`.
    static func install(_ bytes: [UInt8], ownProcess: [UInt16]) -> Int32 {
        let count = bytes.count / MemoryLayout<bgs_filter>.size
        guard count > 0 else { return -EINVAL }
        var program = [bgs_filter](repeating: bgs_filter(), count: count)
        program.withUnsafeMutableBytes { $0.copyBytes(from: bytes.prefix(count * 8)) }
        let pid = UInt32(bitPattern: getpid())
        for index in ownProcess where Int(index) < count { program[Int(index)].operand = pid }
        return program.withUnsafeBufferPointer { bgs_filter_install($0.baseAddress, $0.count) }
    }
}
