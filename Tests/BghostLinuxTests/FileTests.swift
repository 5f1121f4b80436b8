// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileTests {
    // MARK: Confined files

    private func house() throws -> (folder: String, all: TemporaryDirectory) {
        let all = try TemporaryDirectory()
        for name in ["in", "in/deep"] { #expect(mkdir(all.file(name), 0o700) == 0) }
        try all.write("secret", to: "out.txt")
        try all.write("fine", to: "in/deep/file.txt")
        for (link, target) in [
            ("in/way-out", "../out.txt"), ("in/absolute", all.file("out.txt")), ("in/up", ".."),
            ("in/inside", "deep/file.txt"), ("in/loop", "loop"),
        ] {
            #expect(symlink(target, all.file(link)) == 0)
        }
        #expect(mkfifo(all.file("in/fifo"), 0o600) == 0)
        return (all.file("in"), all)
    }

    @Test(arguments: ["deep/file.txt", "./deep/../deep/file.txt", "inside"])
    func `Opens what lies below`(path: String) throws {
        let (folder, all) = try house()
        defer { withExtendedLifetime(all) {} }
        let fd = try ConfinedFile.open(path, below: folder).get()
        defer { close(fd) }
        #expect(Program.next(fd) == UInt8(ascii: "f"))
    }

    @Test(arguments: [
        ("../out.txt", EXDEV), ("deep/../../out.txt", EXDEV), ("way-out", EXDEV),
        ("absolute", EXDEV), ("up/out.txt", EXDEV), ("/etc/passwd", EXDEV), ("..", EXDEV),
        ("loop", ELOOP), ("missing", ENOENT), ("", ENOENT),
    ])
    func `Refuses what leads out`(path: String, code: Int32) throws {
        let (folder, all) = try house()
        defer { withExtendedLifetime(all) {} }
        #expect(
            ConfinedFile.open(path, below: folder)
                == .failure(SystemError("open", path, code: code))
        )
    }

    @Test func `Never waits for AFIFO`() throws {
        let (folder, all) = try house()
        for answer in [
            ConfinedFile.open("fifo", below: folder), ConfinedFile.open(all.file("in/fifo")),
        ] {
            close(try answer.get())
        }
        let fifo = all.file("in/fifo")
        #expect(
            SmallFile.read(fifo, bytesMax: 1) == .failure(SystemError("read", fifo, code: EINVAL))
        )
    }

    @Test func `An exact path must not be a link`() throws {
        let (folder, all) = try house()
        defer { withExtendedLifetime(all) {} }
        let link = folder + "/inside"
        #expect(ConfinedFile.open(link) == .failure(SystemError("open", link, code: ELOOP)))
        close(try ConfinedFile.open(folder + "/deep/file.txt").get())
    }

    @Test func `Reads files of several pieces`() throws {
        let all = try TemporaryDirectory()
        defer { withExtendedLifetime(all) {} }
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try all.write(bytes, to: "long")
        for limit in [0, 16_384, 16_385, 39_999, 40_000, 1 << 20] {
            #expect(
                SmallFile.read(all.file("long"), bytesMax: limit)
                    == .success(Array(bytes.prefix(limit)))
            )
        }
    }

    @Test func `Reads small files up to the limit`() throws {
        let (folder, all) = try house()
        let file = all.file("out.txt")
        #expect(SmallFile.read(file, bytesMax: 3) == .success(Array("sec".utf8)))
        #expect(SmallFile.read(file, bytesMax: 100) == .success(Array("secret".utf8)))
        #expect(
            SmallFile.read(folder, bytesMax: 1)
                == .failure(SystemError("read", folder, code: EISDIR))
        )
        #expect(readFile(file, bytesMax: 3) == Array("sec".utf8))
        #expect(readFile(all.file("missing"), bytesMax: 3) == nil)
    }

    // MARK: Locks

    @Test func `A lock has one holder and is free after its end`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("lock")
        let fd = LockFile.open(path)
        try #require(fd >= 0)
        #expect(LockFile.open(path) == -EAGAIN)
        let holder = try Program(["/bin/sleep", "1000"], extra: [fd])
        close(fd)
        // The other process alone holds it now.
        #expect(LockFile.open(path) == -EAGAIN)
        holder.child.kill()
        _ = try holder.end()
        // Programs that other tests start have a copy of the descriptor until they are executed.
        let next = LockFile.open(path, wait: 60_000)
        #expect(next >= 0)
        close(next)
    }

    @Test func `A lock file is no link`() throws {
        let folder = try TemporaryDirectory()
        try folder.write("", to: "file")
        #expect(symlink(folder.file("file"), folder.file("lock")) == 0)
        #expect(LockFile.open(folder.file("lock")) == -ELOOP)
    }

    // MARK: Pipes

    @Test func `The reading end does not wait`() throws {
        let pipe = try Pipe.make()
        var byte: UInt8 = 0
        #expect(read(pipe.reading, &byte, 1) == -1)
        #expect(errno == EAGAIN)
        #expect(write(pipe.writing, "x", 1) == 1)
        #expect(read(pipe.reading, &byte, 1) == 1)
        close(pipe.writing)
        // Programs that other tests start have a copy of it until they are executed.
        Program.wait(for: pipe.reading)
        #expect(read(pipe.reading, &byte, 1) == 0)
        close(pipe.reading)
    }
}
