// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// Whether groups can be made here at all.
private let makesControlGroups: Bool = {
    guard let group = ControlGroup(name: "bghost-probe-\(getpid())") else { return false }
    group.remove()
    return true
}()

@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: makesControlGroups, "this system lets us make no cgroup v2 groups")
)
struct ControlGroupTests {
    @Test func `Kills what left the process group`() throws {
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

    @Test func `A process that is not there gets no group`() throws {
        let groups = try #require(ControlGroup(name: "bghost-none-\(getpid())"))
        defer { groups.remove() }
        #expect(groups.adopt(pid: .max) == nil)
    }
}

/// What of the kernel's controllers can be tried here: any will do, they are handed on alike.
///
/// From the root of all groups: another that holds processes can be given none.
private let controllerHere: (root: String, name: String)? = {
    guard let (controllers, group) = ControlGroup.detect(), makesControlGroups,
        access("\(group)/cgroup.type", F_OK) != 0
    else { return nil }
    return controllers.sorted().first.map { (group, $0) }
}()

@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: controllerHere != nil, "this system delegates no controller of cgroup v2 to us")
)
struct DelegationTests {
    private func words(_ path: String) throws -> [String] {
        String(decoding: try File.read(path), as: UTF8.self)
            .split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    private func write(_ text: String, to path: String) throws {
        let fd = open(path, O_WRONLY | O_CLOEXEC)
        try #require(fd >= 0, "\(path)")
        defer { close(fd) }
        try #require(Glibc.write(fd, text, text.utf8.count) == text.utf8.count, "\(path)")
    }

    /// Makes a group of its own for a process, in which the controller is there to be handed on.
    private func withGroup(_ body: (String, String, Program) throws -> Void) throws {
        let (root, controller) = try #require(controllerHere)
        // Of the root of all it can be said although there are processes in it.
        try write("+\(controller)", to: root + "/cgroup.subtree_control")
        let own = "\(root)/delegation-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try #require(mkdir(own, 0o700) == 0)
        let program = try Program(shell: "read x")
        defer {
            program.child.kill()
            program.child.collectHere()
            for inner in ["test/daemon", "test", ""] {
                ControlGroup.removeWhenEmpty(own + "/" + inner)
            }
        }
        try write("\(program.child.pid)", to: own + "/cgroup.procs")
        try body(own, controller, program)
    }

    @Test func `A daemon alone in its cgroup moves into a child, and limits its workers`() throws {
        try withGroup { own, controller, program in
            let pid = program.child.pid
            let groups = try #require(
                ControlGroup(
                    in: own,
                    name: "test",
                    process: pid,
                    controllers: [controller, "none"]
                )
            )
            #expect(groups.controllers == [controller])
            #expect(try words(own + "/cgroup.procs").isEmpty)
            #expect(try words(own + "/test/daemon/cgroup.procs") == ["\(pid)"])
            #expect(try words(groups.path + "/cgroup.subtree_control") == [controller])
        }
    }

    @Test func `A cgroup with other processes is not changed`() throws {
        try withGroup { own, controller, program in
            let other = try Program(shell: "read x")
            defer {
                other.child.kill()
                other.child.collectHere()
            }
            try write("\(other.child.pid)", to: own + "/cgroup.procs")
            let pid = program.child.pid
            let groups = try #require(
                ControlGroup(in: own, name: "test", process: pid, controllers: [controller])
            )
            #expect(groups.controllers.isEmpty)
            #expect(try words(own + "/cgroup.procs").count == 2)
            #expect(try words(own + "/cgroup.subtree_control").isEmpty)
        }
    }
}
