// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct SpawnerTests {
    /// In a process of its own: a process that adopts orphans does so for good, and ends every child that
    /// it does not know.
    @Test func `Ends the orphans of a child that left its group`() async {
        await #expect(processExitsWith: .success) {
            Orphan.adopt()
            let spawner = try Spawner()
            let pipe = try Pipe.make()
            let child = try SpawnerTests.start(
                "setsid sh -c 'sleep 1000 & echo ready; wait' & exit 0",
                on: spawner,
                writingTo: pipe.writing
            )
            close(pipe.writing)
            for expected in "ready\n".utf8 {
                try #require(Program.next(pipe.reading) == expected)
            }
            Program.wait(for: child.pidfd)
            child.giveUp()
            // Only the orphan and its own child hold the pipe now.
            try #require(!childPIDs(of: getpid()).isEmpty)
            spawner.collect(child.pid, adoptsOrphans: true)
            try #require(Program.next(pipe.reading) == nil)
            // The search goes on until they are reaped; `settle` is one turn of it.
            while !childPIDs(of: getpid()).isEmpty { SpawnerTests.settle(spawner) }
        }
    }

    @Test func `Leaves the children that it knows`() async {
        await #expect(processExitsWith: .success) {
            Orphan.adopt()
            let spawner = try Spawner()
            let lasting = try SpawnerTests.start("sleep 1000", on: spawner, writingTo: 1)
            let short = try SpawnerTests.start("exit 0", on: spawner, writingTo: 1)
            Program.wait(for: short.pidfd)
            spawner.collect(short.pid, adoptsOrphans: true)
            SpawnerTests.settle(spawner)
            try #require(lasting.exit == nil)
            try #require(childPIDs(of: getpid()) == [lasting.pid])
            lasting.kill()
        }
    }

    /// Such as the trial load of a plugin, while a worker ends.
    @Test func `Leaves the children that other threads have started`() async {
        await #expect(processExitsWith: .success) {
            Orphan.adopt()
            let spawner = try Spawner()
            let other = ChildProcess(
                try Spawner.spawnHere(
                    Spawner.Order(
                        path: "/bin/sleep",
                        arguments: ["sleep", "1000"],
                        environment: [],
                        descriptors: [0, 1, 2]
                    )
                )
            )
            let short = try SpawnerTests.start("exit 0", on: spawner, writingTo: 1)
            Program.wait(for: short.pidfd)
            spawner.collect(short.pid, adoptsOrphans: true)
            SpawnerTests.settle(spawner)
            try #require(other.exit == nil)
            try #require(childPIDs(of: getpid()) == [other.pid])
            other.kill()
            Program.wait(for: other.pidfd)
            other.collectHere()
            try #require(childPIDs(of: getpid()).isEmpty)
        }
    }

    /// Not with the process: so the thread must last as long as that, and nothing outlives it.
    @Test func `A child with a parent death signal dies with the thread`() throws {
        let spawner = try Spawner()
        let pipe = try Pipe.make()
        defer { close(pipe.reading) }
        let child = try SpawnerTests.start(
            "exec setpriv --pdeathsig KILL sh -c 'echo ready; exec sleep 1000'",
            on: spawner,
            writingTo: pipe.writing
        )
        close(pipe.writing)
        for expected in "ready\n".utf8 { #expect(Program.next(pipe.reading) == expected) }
        #expect(child.exit == nil)
        spawner.end()
        Program.wait(for: child.pidfd)
        let end = try #require(child.exit)
        #expect(!end.exited && end.code == SIGKILL)
        child.collectHere()
    }

    @Test func `Tells of a program that cannot be started`() throws {
        let spawner = try Spawner()
        let answer = Mutex<Result<Int32, SystemError>?>(nil)
        let gate = ThreadGate()
        let order = Spawner.Order(
            path: "/dev/null",
            arguments: ["x"],
            environment: [],
            descriptors: []
        )
        spawner.spawn(order) { result in
            answer.withLock { $0 = result.map(\.pid) }
            gate.open()
        }
        gate.wait()
        #expect(answer.withLock { $0 } == .failure(SystemError("start", "/dev/null", code: EACCES)))
    }

    @Test func `Works in the order of the calls`() throws {
        let spawner = try Spawner()
        let seen = Mutex<[Int]>([])
        for number in 0..<1_000 { spawner.perform { seen.withLock { $0.append(number) } } }
        Self.settle(spawner)
        #expect(seen.withLock { $0 } == Array(0..<1_000))
    }

    @Test func `A work thread works in order and to its end`() {
        let thread = WorkThread()
        let seen = Mutex<[Int]>([])
        let gate = ThreadGate()
        for number in 0..<1_000 { thread.perform { seen.withLock { $0.append(number) } } }
        thread.perform { gate.open() }
        thread.end()
        gate.wait()
        #expect(seen.withLock { $0 } == Array(0..<1_000))
    }

    private static func start(
        _ script: String,
        on spawner: Spawner,
        writingTo output: Int32
    ) throws -> ChildProcess {
        let answer = Mutex<Result<Spawner.Spawned, SystemError>?>(nil)
        let gate = ThreadGate()
        let order = Spawner.Order(
            path: "/bin/sh",
            arguments: ["sh", "-c", script],
            environment: ["PATH=/usr/bin:/bin"],
            descriptors: [0, output, 2]
        )
        spawner.spawn(order) { result in
            answer.withLock { $0 = result }
            gate.open()
        }
        gate.wait()
        return ChildProcess(try #require(try answer.withLock { try $0?.get() }))
    }

    /// Waits until the spawner has executed all its jobs.
    private static func settle(_ spawner: Spawner) {
        let gate = ThreadGate()
        spawner.perform { gate.open() }
        gate.wait()
    }
}
