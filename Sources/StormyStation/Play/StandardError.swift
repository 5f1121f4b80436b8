// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Standard error, written without buffering so that lines stand in the order in which they came.
package enum StandardError {
    /// Writes one line; a reader that is gone is no reason to stop.
    package static func write(_ line: String) {
        _ = try? FileDescriptor.standardError.writeAll((line + "\n").utf8)
    }

    /// Says what is wrong, with the program's name in front.
    package static func complain(_ text: String) {
        write("stormy-station: \(text)")
    }
}
