// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import Glibc
import Testing

/// Whether groups can be made here at all.
private let makesControlGroups: Bool = {
    guard let group = ControlGroup(name: "bghost-probe-\(getpid())") else { return false }
    group.remove()
    return true
}()

@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: makesControlGroups, "this system lets us make no cgroup v2 groups")
)
struct ControlGroupTests {
    @Test func killsWhatLeftTheProcessGroup() throws {
        let groups = try #require(ControlGroup(name: "bghost-test-\(getpid())"))
        defer { groups.remove() }
        let program = try Program(shell: "read x; setsid sleep 1000 & echo ready; wait")
        let group = try #require(groups.adopt(pid: program.child.pid))
        program.child.groupKillPath = group + "/cgroup.kill"
        program.say("go")
        #expect(program.line() == "ready")
        #expect(!ControlGroup.remove(group))
        program.child.kill()
        program.waitUntilAllAreGone()
        _ = try program.end()
        program.child.collectHere()
        ControlGroup.removeWhenEmpty(group)
        #expect(throws: SystemError("stat", group, code: ENOENT)) {
            try FileFacts(of: group, followsLinks: false)
        }
        // Gone already is as good.
        #expect(ControlGroup.remove(group))
    }

    @Test func aProcessThatIsNotThereGetsNoGroup() throws {
        let groups = try #require(ControlGroup(name: "bghost-none-\(getpid())"))
        defer { groups.remove() }
        #expect(groups.adopt(pid: .max) == nil)
    }
}
