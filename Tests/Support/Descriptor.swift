// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Descriptors of which no program that another test starts gets a copy.
///
/// To mark them after they are made is too late for one that is started in between. Swift does not see the
/// calls that do both: they are declared for GNU programs only.
package enum Descriptor {
    private typealias Accept =
        @convention(c) (
            Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
        ) -> Int32
    private typealias MakePipe = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32

    /// Waits for the next connection; negative if there is none any more.
    package static func accept(_ listener: Int32) -> Int32 {
        guard let symbol = dlsym(nil, "accept4") else { return -1 }
        let flags = Int32(SOCK_CLOEXEC.rawValue)
        return unsafeBitCast(symbol, to: Accept.self)(listener, nil, nil, flags)
    }

    /// Makes a pipe whose ends the caller closes.
    package static func pipe() throws(SystemCallError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard let symbol = dlsym(nil, "pipe2"),
            unsafeBitCast(symbol, to: MakePipe.self)(&ends, O_CLOEXEC) == 0
        else { throw SystemCallError(call: "pipe", code: errno) }
        return (ends[0], ends[1])
    }
}
