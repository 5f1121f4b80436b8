// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// The live workers that this process has started, by the name of their program.
func workersOfThisProcess() -> [Int32] {
    childPIDs(of: getpid()).filter { pid in
        let name = (try? File.read("/proc/\(pid)/comm")) ?? []
        return String(decoding: name, as: UTF8.self) == "bghost-worker\n"
    }
}

/// The folders of the hosts of this process in the hierarchy of control groups, where there is one.
func controlGroupsOfThisProcess() -> [String] {
    ["/sys/fs/cgroup/bghost-\(getpid())"].filter { access($0, F_OK) == 0 }
}

/// How many descriptors this process has open, besides the one that looks.
func openDescriptors() throws -> Int {
    try File.list("/proc/self/fd").count - 1
}

/// Waits for the end of a process that may be no child of this one.
///
/// The test's time limit bounds it: on a busy machine the process may need long for what it is ended for.
func gone(_ pid: Int32) async throws {
    while isAlive(pid) {
        // It is thrown to a test whose time is over, and names the process.
        try #require(!Task.isCancelled, "process \(pid) lives on")
        await Task.yield()
    }
}

/// Whether a process exists and has not ended.
func isAlive(_ pid: Int32) -> Bool {
    guard let status = try? File.read("/proc/\(pid)/stat") else { return false }
    let text = String(decoding: status, as: UTF8.self)
    // The state comes after the name, which is in parentheses and may hold any of these.
    guard let end = text.lastIndex(of: ")") else { return false }
    return !text[end...].hasPrefix(") Z")
}
