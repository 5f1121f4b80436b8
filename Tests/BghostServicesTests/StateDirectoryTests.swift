// SPDX-License-Identifier: Apache-2.0

import BghostLinux
@testable import BghostServices
import BghostTestSupport
import Dispatch
import Glibc
import Testing

/// The lock of the state directory; `ProgramTests` tests it with two daemons.
@Suite struct StateDirectoryTests {
    /// Holds the lock as a process with this ID would.
    private static func hold(_ folder: TemporaryDirectory, as pid: Int32) throws -> Int32 {
        let fd = LockFile.open(folder.file("lock"))
        try #require(fd >= 0)
        let text = Array("\(pid)".utf8)
        try #require(write(fd, text, text.count) == text.count)
        return fd
    }

    /// The number of this process's descriptors of a file.
    private static func descriptors(of path: String) -> Int {
        // Tests beside this one may have opened hundreds.
        let open = (try? File.list("/proc/self/fd").compactMap { Int32($0) }) ?? []
        return open.count { fd in
            var status = stat()
            var named = stat()
            return fstat(fd, &status) == 0 && stat(path, &named) == 0
                && status.st_ino == named.st_ino && status.st_dev == named.st_dev
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A child of a dead daemon holds the lock only until it ends`() throws {
        let folder = try TemporaryDirectory()
        let lock = folder.file("lock")
        // No process has the greatest ID.
        let held = try Self.hold(folder, as: .max)
        DispatchQueue.global().async {
            // The second descriptor is the one that waits below.
            while Self.descriptors(of: lock) < 2 { sched_yield() }
            close(held)
        }
        try StateDirectory(folder.path, allowsUntrustedFiles: true, deadOwnerWait: 60_000).unlock()
    }

    @Test func `The lock of a daemon that runs is refused at once`() throws {
        let folder = try TemporaryDirectory()
        let held = try Self.hold(folder, as: getpid())
        defer { close(held) }
        let error = #expect(throws: HostError.self) {
            try StateDirectory(folder.path, allowsUntrustedFiles: true)
        }
        #expect(error?.description.contains("another bghost (pid \(getpid())) uses") == true)
    }

    /// A new folder has no lock file of a store, which would tell that there was one.
    @Test func `A daemon does not begin with nothing after an interrupted restore`() throws {
        let folder = try TemporaryDirectory()
        try #require(mkdir(folder.file("restore.unfinished"), 0o700) == 0)
        let error = #expect(throws: HostError.self) {
            try StateDirectory(folder.path, allowsUntrustedFiles: true)
        }
        #expect(error?.description.contains("run `bghost restore` again") == true)
        // The refusal does not keep the lock, so the restore can be repeated.
        try StateDirectory(forRestoreInto: folder.path).unlock()
        try folder.write("", to: StateDirectory.storeName)
        try StateDirectory(folder.path, allowsUntrustedFiles: true).unlock()
    }
}
