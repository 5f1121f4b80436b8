// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite struct LockFileTests {
    /// A child process has a copy of each descriptor until it executes its program.
    @Test func `A released lock is free though a child has a copy of its descriptor`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/lock"
        let first = try LockFile.claim(path, deadOwnerWait: 0)
        let copy = dup(first)
        defer { close(copy) }
        #expect(throws: LockFault.held(owner: getpid())) {
            try LockFile.claim(path, deadOwnerWait: 0)
        }
        LockFile.release(first)
        let second = try LockFile.claim(path, deadOwnerWait: 0)
        LockFile.release(second)
    }
}
