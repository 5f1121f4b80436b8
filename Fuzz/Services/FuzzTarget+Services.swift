// SPDX-License-Identifier: Apache-2.0

package import BghostFuzz

extension FuzzTarget {
    /// What comes from clients, signers and the disk: their readers are built on other libraries.
    package static let services = [control, trust, store]
}
