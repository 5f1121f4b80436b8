// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// Processes whose first thread has ended: their own folders in `/proc` show neither memory nor files.
@Suite(.timeLimit(.minutes(5))) struct HeadlessProcessTests {
    private static func headless(threads: Int = 0, extra: [Int32] = []) throws -> Program {
        let program = try Program([Fixture.program("headless"), "\(threads)"], extra: extra)
        #expect(program.line() == "ready")
        return program
    }

    @Test func `Their memory counts in their tree`() throws {
        let program = try Self.headless()
        let tree = ProcessTree(of: program.child.pid, group: nil, processesMax: 10)
        #expect(tree.processes == 1)
        #expect(tree.memoryBytes > 32 << 20, "\(tree)")
    }

    @Test func `A process that has ended has no memory in its tree`() throws {
        let program = try Program(shell: "exit 0")
        Program.wait(for: program.child.pidfd)
        let tree = ProcessTree(of: program.child.pid, group: nil, processesMax: 10)
        #expect(tree.processes == 1 && tree.memoryBytes == 0, "\(tree)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root may look at what others have open"))
    func `Their open and mapped files without a name are found`() async {
        // In a process of its own: the children of other tests have copies of all that is open here
        // until they execute a program.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryDirectory(in: "/dev/shm")
            // The program maps the first and closes it.
            let files = try [1, 2].map { mebibytes in
                try folder.write([UInt8](repeating: 1, count: mebibytes << 20), to: "gone")
                let file = open(folder.file("gone"), O_RDONLY | O_CLOEXEC)
                #expect(file >= 0 && unlink(folder.file("gone")) == 0)
                return file
            }
            let program = try HeadlessProcessTests.headless(extra: files)
            for file in files { close(file) }
            let pid = program.child.pid
            #expect(UnlinkedFiles.bytes(of: [pid], with: folder.path) == 3 << 20)
        }
    }

    @Test func `A sample of their memory does not look at each of many threads`() throws {
        let program = try Self.headless(threads: 500)
        let pid = program.child.pid
        // The first one has to look for a thread that lives.
        #expect(try #require(program.child.sampleMemory()) > 32 << 20)
        let samples = Self.time {
            for _ in 0..<20 { #expect(program.child.sampleMemory() != nil) }
        }
        let looks = Self.time {
            for _ in 0..<20 {
                ProcessThreads.forEach(of: pid) { thread in
                    ProcessThreads.residentBytes(thread, of: pid) != nil
                }
            }
        }
        // Each reads one file instead of five hundred.
        #expect(samples < looks / 4, "\(samples) of \(looks) ns")
    }

    /// The processor time of this thread, nanoseconds.
    private static func time(_ body: () throws -> Void) rethrows -> UInt64 {
        let begin = ThreadTime.now
        try body()
        return ThreadTime.now - begin
    }
}
