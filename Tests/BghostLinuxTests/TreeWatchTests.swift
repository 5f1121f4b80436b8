// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct TreeWatchTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func makeFolder(_ name: String, in parent: TemporaryDirectory) throws {
        var path = parent.path
        for part in name.split(separator: "/") {
            path += "/" + part
            try #require(mkdir(path, 0o700) == 0 || errno == EEXIST)
        }
    }

    private func watch() throws -> TreeWatch {
        try TreeWatch(folder.path) { name, _ in !name.hasPrefix(".") }
    }

    /// What has changed; waits until the kernel has told.
    private func changes(_ watch: TreeWatch) -> [String] {
        var one = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&one, 1, 20_000) == 1 else { return [] }
        return watch.changes()
    }

    @Test func `Files in all folders are seen, and no others`() throws {
        try makeFolder("a/b", in: folder)
        try makeFolder(".git", in: folder)
        try folder.writeElsewhere("1", to: "a/b/deep.c")
        let watch = try watch()
        #expect(watch.changes() == [])
        try folder.writeElsewhere("2", to: "a/b/deep.c")
        #expect(changes(watch) == ["a/b/deep.c"])
        try folder.writeElsewhere("2", to: ".git/index")
        try folder.writeElsewhere("2", to: ".hidden")
        #expect(watch.changes() == [])
        try folder.writeElsewhere("3", to: "top.c")
        #expect(changes(watch) == ["top.c"])
    }

    @Test func `Files that are replaced, moved away or removed are seen`() throws {
        try folder.writeElsewhere("1", to: "a.c")
        try folder.writeElsewhere("2", to: "b.c")
        let watch = try watch()
        #expect(rename(folder.file("a.c"), folder.file("b.c")) == 0)
        #expect(Set(changes(watch)) == ["a.c", "b.c"])
        #expect(unlink(folder.file("b.c")) == 0)
        #expect(changes(watch) == ["b.c"])
    }

    @Test func `A folder behind a link is watched if links are followed`() throws {
        let outside = try TemporaryDirectory()
        try makeFolder("inner", in: outside)
        try #require(symlink(outside.path, folder.file("link")) == 0)
        try #require(symlink(".", folder.file("itself")) == 0)
        let blind = try watch()
        let watch = try TreeWatch(folder.path, followsLinks: true) { _, _ in true }
        try outside.writeElsewhere("1", to: "a.c")
        #expect(changes(watch) == ["link/a.c"])
        try outside.writeElsewhere("1", to: "inner/b.c")
        #expect(changes(watch) == ["link/inner/b.c"])
        // A link back is the folder itself.
        try folder.writeElsewhere("1", to: "c.c")
        #expect(changes(watch) == ["c.c"] && !watch.isGone)
        #expect(blind.changes() == ["c.c"])
    }

    @Test func `A new folder is watched with all that is in it`() throws {
        let outside = try TemporaryDirectory()
        try makeFolder("new/inner", in: outside)
        let watch = try watch()
        #expect(rename(outside.file("new"), folder.file("new")) == 0)
        #expect(changes(watch) == ["new"])
        try folder.writeElsewhere("1", to: "new/inner/file.c")
        #expect(changes(watch) == ["new/inner/file.c"])
    }

    @Test func `Links to folders are not followed`() throws {
        let outside = try TemporaryDirectory()
        #expect(symlink(outside.path, folder.file("link")) == 0)
        let watch = try watch()
        try outside.writeElsewhere("1", to: "file.c")
        #expect(watch.changes() == [])
    }

    @Test func `Too many folders are said and not watched`() throws {
        for number in 0...TreeWatch.foldersMax { try makeFolder("\(number)", in: folder) }
        #expect(try watch().isIncomplete)
    }

    @Test func `A folder that is not there is an error`() {
        #expect(throws: SystemError.self) {
            try TreeWatch(folder.file("absent")) { _, _ in true }
        }
    }
}
