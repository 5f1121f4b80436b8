// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// A pipe whose reading end is non-blocking.
package enum Pipe {
    /// Creates a pipe; the caller owns both ends.
    package static func make() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var fds: [Int32] = [-1, -1]
        try checked(bgs_pipe(&fds), "create a pipe")
        return (fds[0], fds[1])
    }
}
