// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
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
        #expect(watch.changes().owners == [])
        try folder.writeElsewhere("1", to: "other.so")
        #expect(watch.changes().owners == [])
        try folder.writeElsewhere("1", to: "a.so")
        #expect(watch.changes().owners == ["a"])
        #expect(watch.changes().owners == [])
        try #require(rename(folder.file("a.so"), folder.file("b.so")) == 0)
        #expect(watch.changes().owners == ["a", "b"])
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
        #expect(watch.changes().owners == ["a"])
    }

    @Test func `Tells of a link on the way`() throws {
        try makeFolder("one")
        try makeFolder("two")
        try #require(symlink("one", folder.file("current")) == 0)
        try folder.writeElsewhere("1", to: "one/a.so")
        watch.watch([folder.file("current/a.so")], for: "a")
        try folder.writeElsewhere("2", to: "one/a.so")
        #expect(watch.changes().owners == ["a"])
        try #require(symlink("two", folder.file("next")) == 0)
        try #require(rename(folder.file("next"), folder.file("current")) == 0)
        #expect(watch.changes().owners == ["a"])
    }

    @Test func `Reports a folder that appears and disappears`() throws {
        let path = folder.file("later/inner/a.so")
        watch.watch([path], for: "a")
        try makeFolder("later")
        #expect(watch.changes().owners == ["a"])
        watch.watch([path], for: "a")
        try makeFolder("later/inner")
        #expect(watch.changes().owners == ["a"])
        watch.watch([path], for: "a")
        try folder.writeElsewhere("1", to: "later/inner/a.so")
        #expect(watch.changes().owners == ["a"])
        try #require(unlink(path) == 0)
        try #require(rmdir(folder.file("later/inner")) == 0)
        #expect(watch.changes().owners == ["a"])
    }

    @Test func `Forgets what is watched no more`() throws {
        watch.watch([folder.file("a.so"), folder.file("both.so")], for: "a")
        watch.watch([folder.file("both.so")], for: "b")
        watch.watch([], for: "a")
        try folder.writeElsewhere("1", to: "a.so")
        #expect(watch.changes().owners == [])
        try folder.writeElsewhere("1", to: "both.so")
        #expect(watch.changes().owners == ["b"])
    }

    @Test func `Follows a link into itself not for ever`() throws {
        try #require(symlink("loop", folder.file("loop")) == 0)
        watch.watch([folder.file("loop/a.so")], for: "a")
        try #require(unlink(folder.file("loop")) == 0)
        #expect(watch.changes().owners == ["a"])
    }

    private func swap(_ new: String, into old: String) throws {
        try #require(rename(folder.file(old), folder.file(old + ".old")) == 0)
        try #require(rename(folder.file(new), folder.file(old)) == 0)
    }

    private func makeRelease(_ name: String, _ text: String) throws {
        for part in [name, name + "/app", name + "/app/lib"] { try makeFolder(part) }
        try folder.writeElsewhere(text, to: name + "/app/lib/a.so")
    }

    /// Whether the descriptor becomes readable; it fails the test only if it never does.
    private func waitsForEvent(_ watch: FileWatch) -> Bool {
        var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 60_000) == 1
    }

    private func isQuiet(_ watch: FileWatch) -> Bool {
        var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 0
    }

    // MARK: Folders above

    @Test(arguments: ["release", "release/app", "release/app/lib"])
    func `Tells that a folder above is exchanged, and watches the new one`(moved: String) throws {
        try makeRelease("release", "1")
        try makeRelease("next", "2")
        let path = folder.file("release/app/lib/a.so")
        #expect(watch.watch([path], for: "a"))
        try swap(moved.replacing("release", with: "next", maxReplacements: 1), into: moved)
        #expect(watch.changes().owners == ["a"])
        #expect(watch.watchAgain("a"))
        // What is watched now is the new one.
        try folder.writeElsewhere("3", to: "release/app/lib/a.so")
        #expect(watch.changes().owners == ["a"])
        try #require(rename(folder.file(moved), folder.file("away")) == 0)
        #expect(watch.changes().owners == ["a"])
        #expect(watch.watchAgain("a"))
        try #require(rename(folder.file("away"), folder.file(moved)) == 0)
        #expect(watch.changes().owners == ["a"])
    }

    @Test func `Other files in a folder above are no events`() throws {
        try makeRelease("release", "1")
        watch.watch([folder.file("release/app/lib/a.so")], for: "a")
        for number in 0..<100 {
            try folder.writeElsewhere("1", to: "\(number)")
            try folder.writeElsewhere("1", to: "release/app/\(number)")
            try makeFolder("release/\(number)")
        }
        #expect(isQuiet(watch))
        // In the folder of the file itself they are, and concern no owner.
        try folder.writeElsewhere("1", to: "release/app/lib/b.so")
        #expect(!isQuiet(watch))
        #expect(watch.changes().owners == [])
    }

    @Test func `A thousand files in one folder share its watches`() throws {
        try makeRelease("release", "1")
        watch.watch([folder.file("release/app/lib/a.so")], for: "a")
        let count = watch.folderCount
        for number in 0..<1000 {
            #expect(watch.watch([folder.file("release/app/lib/\(number).so")], for: "\(number)"))
        }
        #expect(watch.folderCount == count)
        try folder.writeElsewhere("1", to: "release/app/lib/500.so")
        #expect(watch.changes().owners == ["500"])
        try #require(rename(folder.file("release"), folder.file("away")) == 0)
        #expect(watch.changes().owners.count == 1001)
        for number in 0..<1000 { watch.watch([], for: "\(number)") }
        watch.watch([], for: "a")
        #expect(watch.folderCount == 0)
    }

    @Test func `Beyond its limit of folders it says so, and a sweep finds the change`() throws {
        try makeRelease("one", "1")
        try makeRelease("two", "1")
        let whole = try FileWatch()
        whole.watch([folder.file("one/app/lib/a.so")], for: "one")
        let watch = try FileWatch(foldersMax: whole.folderCount)
        #expect(watch.watch([folder.file("one/app/lib/a.so")], for: "one"))
        #expect(!watch.watch([folder.file("two/app/lib/a.so")], for: "two"))
        #expect(watch.folderCount == whole.folderCount)
        try #require(rename(folder.file("two"), folder.file("away")) == 0)
        #expect(watch.sweep() == ["two"])
        try #require(rename(folder.file("away"), folder.file("two")) == 0)
        watch.watch([], for: "one")
        #expect(watch.watchAgain("two"))
        #expect(watch.sweep() == [])
    }

    // MARK: Sweeps

    @Test func `A sweep finds what causes no event`() throws {
        try folder.writeElsewhere("1", to: "a.so")
        try folder.writeElsewhere("1", to: "b.so")
        let fd = open(folder.file("a.so"), O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(fd >= 0)
        defer { close(fd) }
        watch.watch([folder.file("a.so")], for: "a")
        watch.watch([folder.file("b.so")], for: "b")
        #expect(watch.sweep() == [])
        // An event comes when the file is closed.
        try #require(write(fd, "2", 1) == 1)
        #expect(watch.changes() == FileWatch.Changes())
        #expect(watch.sweep() == ["a"])
        #expect(watch.watchAgain("a"))
        #expect(watch.sweep() == [])
    }

    @Test func `A sweep is due once a period, and not while one is under way`() throws {
        let watch = try FileWatch(period: 1_000_000)
        #expect(isQuiet(watch))
        watch.watch([folder.file("a.so")], for: "a")
        try #require(waitsForEvent(watch))
        #expect(watch.changes().needsSweep)
        try #require(waitsForEvent(watch))
        #expect(!watch.changes().needsSweep)
        #expect(watch.sweep() == [])
        try #require(waitsForEvent(watch))
        #expect(watch.changes().needsSweep)
        // Without a file there is nothing to look at.
        watch.watch([], for: "a")
        _ = watch.changes()
        #expect(isQuiet(watch))
    }
}
