// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Processes that become children of this one when their own parent ends.
package enum Orphan {
    /// Makes this process the parent of its orphaned descendants (a subreaper).
    package static func adopt() {
        // Linux has it since 3.4. Without it, orphans go to init and only the sweep of them is
        // lost.
        _ = bgs_become_subreaper()
    }
}
