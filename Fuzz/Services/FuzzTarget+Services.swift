// SPDX-License-Identifier: Apache-2.0

package import BghostFuzz

extension FuzzTarget {
    /// What comes from signers and the disk: their readers are built on other libraries.
    package static let services = [trust, store, bundle]
}
