// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads) struct FolderCopyTests {
    private let folder: TemporaryDirectory
    private let source: String
    private let target: String

    init() throws {
        folder = try TemporaryDirectory()
        source = folder.file("source")
        target = folder.file("target")
        mkdir(source, 0o700)
    }

    private func facts(_ path: String) throws -> stat {
        var status = stat()
        try #require(lstat(path, &status) == 0, "\(path)")
        return status
    }

    @Test func `Files, folders and links are copied with their modes and times`() throws {
        mkdir(source + "/inner", 0o750)
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try folder.write(bytes, to: "source/inner/large")
        try folder.write([UInt8](), to: "source/empty")
        // The name of a file is bytes.
        let odd: [CChar] = Array((source + "/odd").utf8CString.dropLast()) + [-1, 0]
        close(open(odd, O_CREAT | O_WRONLY, 0o600))
        symlink("/etc/passwd", source + "/link")
        chmod(source + "/inner/large", 0o640)
        utimes(
            source + "/inner/large",
            [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 77, tv_usec: 5)]
        )

        var copy = FolderCopy()
        try copy.copy(source, to: target)
        #expect(copy.bytes == 3_000_000 && copy.omitted == 0 && copy.entries == 5, "\(copy)")
        #expect(try File.read(target + "/inner/large") == bytes)
        #expect(try facts(target + "/inner/large").st_mode & 0o7777 == 0o640)
        #expect(try facts(target + "/inner/large").st_mtim.tv_sec == 77)
        #expect(try facts(target + "/inner").st_mode & 0o7777 == 0o750)
        #expect(try facts(target + "/empty").st_size == 0)
        #expect(try facts(target + "/link").st_mode & S_IFMT == S_IFLNK)
        #expect(try File.list(target).count == 4)
    }

    @Test func `A hole takes no room in the copy`() throws {
        try folder.write([1], to: "source/sparse")
        #expect(truncate(source + "/sparse", 1 << 40) == 0)
        var copy = FolderCopy()
        try copy.copy(source, to: target)
        let found = try facts(target + "/sparse")
        #expect(found.st_size == 1 << 40 && found.st_blocks < 4096)
        #expect(copy.bytes < 1 << 20)
    }

    @Test func `What is dangerous is not copied`() throws {
        mkfifo(source + "/pipe", 0o600)
        try folder.write([1], to: "source/program")
        chmod(source + "/program", 0o6755)
        var copy = FolderCopy()
        try copy.copy(source, to: target)
        #expect(copy.omitted == 1)
        #expect(try File.list(target) == ["program"])
        #expect(try facts(target + "/program").st_mode & 0o7777 == 0o755)
    }

    @Test func `A link in the place of a folder is not followed`() throws {
        symlink("/etc", folder.file("etc"))
        var copy = FolderCopy()
        #expect(throws: SystemError.self) { try copy.copy(folder.file("etc"), to: target) }
        try folder.write([1], to: "file")
        symlink("file", folder.file("alias"))
        #expect(throws: SystemError.self) { try copy.copyFile(folder.file("alias"), to: target) }
        // An existing target is not written into.
        try copy.copyFile(folder.file("file"), to: target)
        #expect(throws: SystemError.self) { try copy.copyFile(folder.file("file"), to: target) }
    }

    @Test func `A folder that is too deep is left out`() throws {
        var path = source
        for _ in 0..<40 {
            path += "/d"
            mkdir(path, 0o700)
        }
        try folder.write([1], to: "source/file")
        var copy = FolderCopy()
        try copy.copy(source, to: target)
        #expect(copy.omitted == 1 && copy.entries == FolderCopy.depthMax, "\(copy)")
        #expect(try File.read(target + "/file") == [1])
    }
}
