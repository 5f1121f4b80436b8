// SPDX-License-Identifier: Apache-2.0

/// The error for a file that is not trusted.
package struct TrustError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason, and how to resolve it.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
