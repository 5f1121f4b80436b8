// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Processes that come to this one because their own parent has ended.
package enum Orphan {
    /// Has this process become the parent of its descendants' orphans.
    package static func adopt() {
        _ = bgs_become_subreaper()
    }
}
