// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads) struct FolderUsageTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func usage(bytes: UInt64 = 1 << 40, entries: Int = 1000) -> FolderUsage {
        FolderUsage(of: folder.path, bytesMax: bytes, entriesMax: entries)
    }

    @Test func whatIsThereIsCountedOnce() throws {
        #expect(usage() == FolderUsage(of: "/nonexistent", bytesMax: 0, entriesMax: 0))
        mkdir(folder.file("inner"), 0o700)
        try folder.write([UInt8](repeating: 1, count: 300_000), to: "inner/a")
        try folder.write([UInt8](repeating: 1, count: 10), to: "b")
        let found = usage()
        #expect(found.entries == 3 && found.problem == nil)
        #expect(found.bytes >= 300_000 && found.bytes < 340_000, "\(found)")
    }

    @Test func linksAreNotFollowedAndHolesTakeNothing() throws {
        symlink("/usr", folder.file("usr"))
        symlink(".", folder.file("circle"))
        mkfifo(folder.file("pipe"), 0o600)
        try folder.write([1], to: "sparse")
        #expect(truncate(folder.file("sparse"), 1 << 40) == 0)
        let found = usage()
        #expect(found.entries == 4 && found.problem == nil)
        #expect(found.bytes < 1 << 20)
    }

    @Test func itStopsWhereThereIsTooMuch() throws {
        for number in 0..<30 {
            try folder.write([UInt8](repeating: 1, count: 8192), to: "\(number)")
        }
        #expect(usage(bytes: 100_000).problem == .tooLarge)
        let many = usage(entries: 20)
        #expect(many.problem == .tooManyEntries && many.entries == 21)
    }

    @Test func nothingHidesBelow() throws {
        var path = folder.path
        for _ in 0..<FolderUsage.depthMax {
            path += "/d"
            mkdir(path, 0o700)
        }
        #expect(usage().problem == .tooDeep)
    }

    @Test(.enabled(if: geteuid() != 0, "root opens all"))
    func aClosedFolderIsSaid() throws {
        mkdir(folder.file("closed"), 0o000)
        defer { chmod(folder.file("closed"), 0o700) }
        #expect(usage().problem == .closed(EACCES))
    }
}
