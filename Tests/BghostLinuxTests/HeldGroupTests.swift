// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// Whether the kernel holds groups to memory and processors here, and lets us make some.
private let holdsGroups: Bool = {
    guard let (controllers, group) = ControlGroup.detect() else { return false }
    return controllers.isSuperset(of: ["cpu", "memory", "pids"])
        && access("\(group)/cgroup.type", F_OK) != 0 && access(group, W_OK) == 0
}()

/// What the kernel does to who is over the limits of a group; see `make kernels`.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: holdsGroups, "no controllers of cgroup v2 for memory and processors here")
)
struct HeldGroupTests {
    private func withGroup(
        _ script: String,
        _ limits: ControlGroup.Limits,
        _ body: (Program, String) throws -> Void
    ) throws {
        let name = "bghost-held-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let groups = try #require(ControlGroup(name: name))
        #expect(groups.controllers == ["cpu", "memory", "pids"])
        let program = try Program(shell: "read x; " + script)
        let group = try #require(groups.adopt(pid: program.child.pid, limits: limits))
        defer {
            program.child.kill()
            program.child.collectHere()
            ControlGroup.removeWhenEmpty(group)
            groups.remove()
        }
        program.say("go")
        try body(program, group)
    }

    @Test func `A process above the cgroup's memory limit is killed with its group`() throws {
        // One process of the group after the other wants it, and all of them go.
        let script = "sleep 1000 & head -c 200M /dev/zero | tail -c 100M >/dev/null; echo survived"
        try withGroup(script, ControlGroup.Limits(memoryBytes: 16 << 20)) { program, group in
            let end = try program.end()
            #expect(end.isKilled)
            #expect(ControlGroup.hitMemoryLimit(group))
            program.waitUntilAllAreGone()
        }
    }

    @Test func `Files in memory count against the limit of the cgroup`() throws {
        let script = "head -c 100M /dev/zero >/dev/shm/bghost-held-$$; echo survived"
        try withGroup(script, ControlGroup.Limits(memoryBytes: 16 << 20)) { program, group in
            defer { unlink("/dev/shm/bghost-held-\(program.child.pid)") }
            let end = try program.end()
            #expect(end.isKilled)
            #expect(ControlGroup.hitMemoryLimit(group))
        }
    }

    @Test func `A process below the limit is not killed`() throws {
        let limits = ControlGroup.Limits(memoryBytes: 64 << 20, threads: 16, cpuPercent: 100)
        try withGroup("echo fine", limits) { program, group in
            #expect(program.line() == "fine")
            let end = try program.end()
            #expect(end.isFine)
            #expect(!ControlGroup.hitMemoryLimit(group))
        }
    }

    @Test func `The cgroup limits the number of threads`() throws {
        let script = "for i in 1 2 3 4 5 6 7 8; do sleep 1000 >/dev/null & done; echo $!"
        try withGroup(script, ControlGroup.Limits(threads: 4)) { program, _ in
            // The shell gives up at the first that it cannot start.
            #expect(program.line().isEmpty)
        }
    }

    @Test func `The cgroup limits the share of a processor`() throws {
        // However fast the machine is, it goes on until it has been kept waiting.
        let script = """
            stat=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/cpu.stat
            until grep -Eq "nr_throttled ([3-9]|..)" "$stat"; do :; done; echo done
            """
        try withGroup(script, ControlGroup.Limits(cpuPercent: 10)) { program, group in
            #expect(program.line() == "done")
            let end = try program.end()
            #expect(end.isFine)
            let stat = try counters(of: group)
            let (used, periods) = try (
                #require(stat["usage_usec"]), #require(stat["nr_periods"])
            )
            // 10 ms of each 100 ms, but for what was begun before its first period and taken ahead.
            #expect(used <= (periods + 2) * 15_000, "\(stat)")
        }
    }

    private func counters(of group: String) throws -> [String: Int] {
        var counters: [String: Int] = [:]
        let text = String(decoding: try File.read(group + "/cpu.stat"), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { counters[String(words[0])] = Int(words[1]) }
        }
        return counters
    }
}

extension ProcessExit {
    fileprivate var isKilled: Bool { !exited && code == SIGKILL }
    fileprivate var isFine: Bool { exited && code == 0 }
}
