// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A system call that a test needed and that failed.
package struct SystemCallError: Error, CustomStringConvertible {
    /// The call and what it was about.
    package var call: String
    /// The `errno`.
    package var code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
