// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChildProcessTests {
    @Test(arguments: [Int32(0), 1, 7, 255])
    func `Tells the exit code`(code: Int32) throws {
        let end = try Program(shell: "exit \(code)").end()
        #expect(end.exited)
        #expect(end.code == code)
    }

    @Test(arguments: [SIGSEGV, SIGKILL, SIGTERM])
    func `Tells the signal`(signal: Int32) throws {
        let end = try Program(shell: "kill -\(signal) $$").end()
        #expect(!end.exited)
        #expect(end.code == signal)
    }

    @Test func `Tells what it used`() throws {
        let end = try Program(
            shell: "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
        ).end()
        #expect(end.exited)
        #expect(end.cpuNanoseconds > 0)
    }

    @Test func `Tells more memory than this process has`() throws {
        let program = try Program(
            shell: """
                read bytes
                dd if=/dev/zero of=/dev/null bs=$bytes count=1 iflag=fullblock status=none
                """
        )
        // After its start, which other tests may have preceded by one that needs much memory: with a sanitizer
        // more than the 2 GiB that one call reads.
        var usage = rusage()
        #expect(getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0)
        let bytes = UInt64(usage.ru_maxrss) << 10 + 256 << 20
        program.say("\(bytes)")
        let end = try program.end()
        #expect(end.exited && end.code == 0)
        #expect(try #require(end.peakMemoryBytes) >= bytes)
    }

    @Test func `Does not take its parent's memory for its own`() throws {
        let large = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 20, alignment: 4096)
        defer { large.deallocate() }
        for page in stride(from: 0, to: large.count, by: 4096) { large[page] = 1 }
        let program = try Program(shell: "echo ready; read x")
        #expect(program.line() == "ready")
        #expect(program.child.sampleMemory() != nil)
        program.say("go")
        let end = try program.end()
        #expect(try #require(end.peakMemoryBytes) < 64 << 20)
    }

    @Test func `An unmeasured peak memory is unknown`() throws {
        #expect(try Program(shell: "exit 0").end().peakMemoryBytes == nil)
    }

    @Test func `Tells that it is ending before it is collected`() throws {
        let program = try Program(shell: "echo ready; read x; exit 3")
        #expect(program.line() == "ready")
        #expect(!program.child.isEnding)
        program.say("go")
        Program.wait(for: program.child.pidfd)
        #expect(program.child.isEnding)
        let end = try program.end()
        #expect(end.code == 3)
    }

    /// Its own file in `/proc` says that it has no memory, and that it is ending.
    @Test func `A process whose first thread has ended is seen by its others`() throws {
        let program = try Program([Fixture.program("headless")])
        #expect(program.line() == "ready")
        #expect(try #require(program.child.sampleMemory()) > 32 << 20)
        #expect(!program.child.isEnding)
        program.say("go")
        let end = try program.end()
        #expect(end.exited && end.code == 4)
        #expect(program.child.isEnding)
    }

    @Test func `A running child has not ended`() throws {
        let program = try Program(shell: "echo ready; read x; exit 3")
        #expect(program.line() == "ready")
        #expect(program.child.exit == nil)
        #expect(program.child.cpuNanoseconds != nil)
        let resident = try #require(program.child.sampleMemory())
        let peak = try #require(program.child.peakResidentBytes)
        #expect(resident > 0)
        #expect(peak > 100 << 10)
        program.say("go")
        #expect(try program.end().code == 3)
        // It stays to be collected, so this can be asked again.
        #expect(program.child.exit?.code == 3)
    }

    @Test func `Kills the whole group`() throws {
        let program = try Program(shell: "sleep 1000 & echo ready; wait")
        #expect(program.line() == "ready")
        program.child.kill()
        program.waitUntilAllAreGone()
        #expect(try program.end().code == SIGKILL)
    }

    @Test func `Ends what the child left in its group`() throws {
        let program = try Program(shell: "sleep 1000 & exit 0")
        #expect(try program.end().code == 0)
        program.child.giveUp()
        program.waitUntilAllAreGone()
    }

    @Test func `Finds the children of a process`() throws {
        let program = try Program(
            shell: "sleep 1000 & sh -c 'sleep 1000 & echo ready; wait' & wait"
        )
        #expect(program.line() == "ready")
        #expect(childPIDs(of: program.child.pid).count == 2)
        #expect(childPIDs(of: getpid()).contains(program.child.pid))
        #expect(childPIDs(of: .max).isEmpty)
    }

    @Test func `Looks at all of the tree`() throws {
        let program = try Program(
            shell: "sleep 1000 & sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done';"
                + " echo ready; wait"
        )
        #expect(program.line() == "ready")
        let pid = program.child.pid
        let tree = ProcessTree(of: pid, group: nil, processesMax: 10)
        #expect(tree.processes == 2)
        #expect(tree.memoryBytes > 0)
        // Of the one that has ended too.
        let own = try #require(program.child.cpuNanoseconds)
        #expect(tree.cpuNanoseconds > own + 10_000_000, "\(tree) \(own)")
        #expect(ProcessTree(of: pid, group: nil, processesMax: 1).processes == 2)
        #expect(program.child.hasChildren(group: nil))
        program.child.kill()
        program.waitUntilAllAreGone()
    }

    @Test func `A program that is not there is an error`() {
        #expect(throws: SystemError("start", "/no/such/program", code: ENOENT)) {
            try Program(["/no/such/program"])
        }
    }

    /// The child's numbers must come out right also where they cross those of the descriptors.
    @Test func `Descriptors become the numbers of their places`() throws {
        let pipes = try (0..<3).map { _ in try Pipe.make() }
        let program = try Program(
            shell: "echo 3 >&3; echo 4 >&4; echo 5 >&5",
            extra: pipes.map(\.writing)
        )
        #expect(try program.end().code == 0)
        for (pipe, number) in zip(pipes, 3...5) {
            close(pipe.writing)
            #expect(Program.next(pipe.reading) == UInt8(ascii: "0") + UInt8(number))
            close(pipe.reading)
        }
    }

    @Test func `Of our descriptors no other is inherited`() throws {
        let leak = try Pipe.make()
        defer { close(leak.reading) }
        let program = try Program(shell: "read x")
        close(leak.writing)
        // Would wait for ever if the child held the writing end.
        #expect(Program.next(leak.reading) == nil)
        _ = program.child.pid
    }
}
