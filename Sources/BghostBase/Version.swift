// SPDX-License-Identifier: Apache-2.0

/// The version of this bghost, in the form of semantic versioning.
package enum BghostVersion {
    /// The text that `bghost version` prints.
    package static let text = "0.1.0"

    /// The part of a version that must be equal for a client and a daemon: the major version, and before 1.0
    /// also the minor version.
    package static func series(of version: some StringProtocol) -> String {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        return parts.prefix(parts.first == "0" ? 2 : 1).joined(separator: ".")
    }
}
