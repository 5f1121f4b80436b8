// SPDX-License-Identifier: Apache-2.0

import CBghostSystem
import Glibc

/// Lets the calling thread, and those that it creates, open no more files or pipes: each attempt fails with EMFILE.
///
/// It cannot be undone, so only a test whose process ends afterwards may call it. A limit of the whole process,
/// RLIMIT_NOFILE, would also meet the threads of Dispatch, which end the process when they cannot open a timer.
///
/// - Throws: `SystemCallError` if the kernel does not take the filter.
package func refuseOpens() throws {
    let names = ["open", "openat", "openat2", "pipe", "pipe2"]
    let calls = names.map { bgs_call_number($0) }.filter { $0 >= 0 }
    // Loads the number of the call; a number of the list jumps to the error behind the permission.
    var program = [bgs_filter(code: 0x20, if_true: 0, if_false: 0, operand: 0)]
    for (index, call) in calls.enumerated() {
        let error = UInt8(calls.count - index)
        program.append(
            bgs_filter(code: 0x15, if_true: error, if_false: 0, operand: UInt32(call))
        )
    }
    program.append(bgs_filter(code: 0x06, if_true: 0, if_false: 0, operand: 0x7FFF_0000))
    program.append(
        bgs_filter(code: 0x06, if_true: 0, if_false: 0, operand: 0x0005_0000 | UInt32(EMFILE))
    )
    // Without this only root may install a filter.
    var answer = bgs_no_new_privileges()
    guard answer == 0 else { throw SystemCallError(call: "prctl", code: -answer) }
    answer = program.withUnsafeBufferPointer { bgs_filter_install($0.baseAddress, $0.count) }
    guard answer == 0 else { throw SystemCallError(call: "seccomp", code: -answer) }
}
