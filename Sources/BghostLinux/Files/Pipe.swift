// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// A pipe whose reading end does not wait.
package enum Pipe {
    /// The reading end and the writing end; the caller owns both.
    package static func make() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var fds: [Int32] = [-1, -1]
        try checked(bgs_pipe(&fds), "create a pipe")
        return (fds[0], fds[1])
    }
}
