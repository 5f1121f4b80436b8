// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// A process that came to this one because its own parent has ended.
public enum Orphan {
    /// Has this process become the parent of its descendants' orphans.
    public static func adopt() {
        _ = bgs_become_subreaper()
    }

    /// Kills and collects one. Its number cannot have been used again before it is collected here.
    public static func end(_ pid: Int32) {
        kill(pid, SIGKILL)
        var end = bgs_exit()
        _ = bgs_reap_pid(pid, &end)
    }
}
