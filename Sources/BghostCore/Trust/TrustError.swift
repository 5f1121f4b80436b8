// SPDX-License-Identifier: Apache-2.0

/// Why a file is not believed.
package struct TrustError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
