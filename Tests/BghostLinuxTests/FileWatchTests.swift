// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// The kernel reports a change before the call, or the process, that made it ends, so the tests need not wait.
@Suite(.timeLimit(.minutes(5))) struct FileWatchTests {
    private let folder: TemporaryDirectory
    private let watch: FileWatch

    init() throws {
        folder = try TemporaryDirectory()
        watch = try FileWatch()
    }

    private func makeFolder(_ name: String) throws {
        try #require(mkdir(folder.file(name), 0o755) == 0)
    }

    @Test func `Tells whose file was written and no other`() throws {
        #expect(watch.watch([folder.file("a.so")], for: "a"))
        #expect(watch.watch([folder.file("b.so")], for: "b"))
        #expect(watch.changes() == [])
        try folder.writeElsewhere("1", to: "other.so")
        #expect(watch.changes() == [])
        try folder.writeElsewhere("1", to: "a.so")
        #expect(watch.changes() == ["a"])
        #expect(watch.changes() == [])
        try #require(rename(folder.file("a.so"), folder.file("b.so")) == 0)
        #expect(watch.changes() == ["a", "b"])
    }

    @Test(arguments: ["chmod", "link", "unlink", "rename", "write"])
    func `Tells of each way to change`(way: String) throws {
        try folder.writeElsewhere("1", to: "other.so")
        if way != "link" { try folder.writeElsewhere("1", to: "a.so") }
        watch.watch([folder.file("a.so")], for: "a")
        switch way {
        case "chmod": try #require(chmod(folder.file("a.so"), 0o755) == 0)
        case "link": try #require(link(folder.file("other.so"), folder.file("a.so")) == 0)
        case "unlink": try #require(unlink(folder.file("a.so")) == 0)
        case "rename": try #require(rename(folder.file("other.so"), folder.file("a.so")) == 0)
        default: try folder.writeElsewhere("2", to: "a.so")
        }
        #expect(watch.changes() == ["a"])
    }

    @Test func `Tells of a link on the way`() throws {
        try makeFolder("one")
        try makeFolder("two")
        try #require(symlink("one", folder.file("current")) == 0)
        try folder.writeElsewhere("1", to: "one/a.so")
        watch.watch([folder.file("current/a.so")], for: "a")
        try folder.writeElsewhere("2", to: "one/a.so")
        #expect(watch.changes() == ["a"])
        try #require(symlink("two", folder.file("next")) == 0)
        try #require(rename(folder.file("next"), folder.file("current")) == 0)
        #expect(watch.changes() == ["a"])
    }

    @Test func `Reports a folder that appears and disappears`() throws {
        let path = folder.file("later/inner/a.so")
        watch.watch([path], for: "a")
        try makeFolder("later")
        #expect(watch.changes() == ["a"])
        watch.watch([path], for: "a")
        try makeFolder("later/inner")
        #expect(watch.changes() == ["a"])
        watch.watch([path], for: "a")
        try folder.writeElsewhere("1", to: "later/inner/a.so")
        #expect(watch.changes() == ["a"])
        try #require(unlink(path) == 0)
        try #require(rmdir(folder.file("later/inner")) == 0)
        #expect(watch.changes() == ["a"])
    }

    @Test func `Forgets what is watched no more`() throws {
        watch.watch([folder.file("a.so"), folder.file("both.so")], for: "a")
        watch.watch([folder.file("both.so")], for: "b")
        watch.watch([], for: "a")
        try folder.writeElsewhere("1", to: "a.so")
        #expect(watch.changes() == [])
        try folder.writeElsewhere("1", to: "both.so")
        #expect(watch.changes() == ["b"])
    }

    @Test func `Follows a link into itself not for ever`() throws {
        try #require(symlink("loop", folder.file("loop")) == 0)
        watch.watch([folder.file("loop/a.so")], for: "a")
        try #require(unlink(folder.file("loop")) == 0)
        #expect(watch.changes() == ["a"])
    }
}
