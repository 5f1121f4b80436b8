// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Writes to standard error without buffering, so that lines appear in their order.
package enum StandardError {
    /// Writes one line; ignores a closed pipe.
    package static func write(_ line: String) {
        // Nothing is left to report it to.
        _ = try? FileDescriptor.standardError.writeAll((line + "\n").utf8)
    }

    /// Prints an error with the program's name.
    package static func complain(_ text: String) {
        write("stormy-station: \(text)")
    }
}
