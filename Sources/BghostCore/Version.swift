// SPDX-License-Identifier: Apache-2.0

/// The version of this bghost, after semantic versioning.
package enum BghostVersion {
    /// As printed by `bghost version`.
    package static let text = "0.1.0"

    /// What must be equal for a client and a daemon to understand each other: the major version,
    /// and before 1.0 the minor version too.
    package static func series(of version: some StringProtocol) -> String {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        return parts.prefix(parts.first == "0" ? 2 : 1).joined(separator: ".")
    }
}
