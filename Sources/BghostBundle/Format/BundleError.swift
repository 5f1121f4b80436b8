// SPDX-License-Identifier: Apache-2.0

/// Why a bundle, or what is to become one, is refused.
package struct BundleError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, where and why: one sentence without a full stop, without control characters.
    package let message: String
    /// What to do about it.
    package let fix: String

    package init(_ message: String, fix: String) {
        self.message = message
        self.fix = fix
    }

    package var description: String { "\(message): \(fix)" }

    /// For a file that was damaged or put together by hand.
    static func damaged(_ message: String) -> BundleError {
        BundleError(
            message,
            fix: "get the bundle again, or ask its author to make it with `bghost plugin pack`"
        )
    }
}
