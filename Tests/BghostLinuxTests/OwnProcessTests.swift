// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import Glibc
import Testing

@Suite struct OwnProcessTests {
    @Test func `A process reads its own use`() throws {
        let before = try #require(OwnProcess())
        var descriptors: [Int32] = []
        for _ in 0..<50 { descriptors.append(open("/dev/null", O_RDONLY | O_CLOEXEC)) }
        defer { for descriptor in descriptors { close(descriptor) } }
        #expect(!descriptors.contains { $0 < 0 })
        let after = try #require(OwnProcess())
        // Other tests open and close descriptors too.
        #expect(after.openDescriptors >= 50)
        #expect(after.residentBytes > 1 << 20)
        #expect(after.processorTime > before.processorTime)
    }

    @Test func `The memory of a process is that which it sees itself`() throws {
        let own = try #require(OwnProcess())
        let seen = try #require(ProcessMemory.resident(getpid()))
        // Other tests allocate meanwhile, but not three quarters of it.
        #expect(seen > own.residentBytes / 4)
        #expect(ProcessMemory.resident(0) == nil && ProcessMemory.resident(-1) == nil)
        // No process has a number above the kernel's largest.
        #expect(ProcessMemory.resident(1 << 23) == nil)
    }

    @Test(arguments: [
        ("100 25 10 1 0 9 0\n", 25 as UInt64?), ("100", nil), ("", nil), ("a b", nil),
    ]) func `The reader takes the second number of the kernel's file`(text: String, pages: UInt64?)
    {
        #expect(OwnProcess.residentPages(Array(text.utf8)) == pages)
    }

    /// A plugin can have its memory moved to swap, where its resident memory does not show it.
    @Test func `What is in swap counts as memory`() {
        let rollup = Array(
            "Rss: 900 kB\nPss:     100 kB\nPss_Dirty: 7 kB\nSwap: 60 kB\nSwapPss:   40 kB\n".utf8
        )
        #expect(ProcessTree.share(rollup) == 140 << 10)
        #expect(ProcessTree.share(Array("Pss: 100 kB\n".utf8)) == 100 << 10)
        #expect(ProcessTree.share([]) == nil)
        let status = Array(
            "Name:\tx\nRssAnon:\t  100 kB\nRssFile:\t 5 kB\nRssShmem:\t 20 kB\nVmSwap:\t 3 kB\n"
                .utf8
        )
        #expect(ProcessTree.privateBytes(status) == 123 << 10)
        #expect(ProcessMemory.number("VmSwap:", in: status) == 3)
    }
}
