// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostLogFiles
import BghostModel
import BghostServices
import BghostTestSupport
import Glibc
import Testing

/// Writing, rotation and search of the log's files.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct LogFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var path: LogPath { LogPath(live: folder.file("log"), allowsUntrustedFiles: false) }

    private func entry(_ number: Int, _ message: String = "line", task: String? = nil) -> LogEntry {
        LogEntry(
            sequence: UInt64(number),
            time: Int64(number) * 1_000_000_000,
            level: .info,
            source: .host,
            event: "",
            message: message,
            task: task
        )
    }

    private func writer(
        max bytes: UInt64 = 1 << 20,
        older: Int = 3,
        _ format: LogSettings.Format = .json
    ) -> LogFileWriter {
        LogFileWriter(path, LogSettings(format: format, bytesMax: bytes, olderFiles: older))
    }

    private func reader(_ format: LogSettings.Format = .json, start: LogCursor? = nil)
        -> LogFileReader
    {
        LogFileReader(path: path, format: format, start: start)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try BghostTestSupport.File.read(folder.file(name)), as: UTF8.self)
    }

    /// All lines that a search finds, page by page, the newest first.
    private func all(
        _ filter: LogFilter = LogFilter(),
        page: Int = 1000,
        format: LogSettings.Format = .json
    ) -> [LogEntry] {
        var search = LogSearch(filter, limit: page)
        var found: [LogEntry] = []
        repeat {
            let findings = reader(format).search(search)
            found += findings.lines.map(\.entry)
            search.before = findings.next
        } while search.before != nil
        return found
    }

    // MARK: Rotation

    @Test func `Files are renamed at their size, and no more than so many are kept`() throws {
        let writer = writer(max: 4000)
        for number in 1...200 { writer.write([entry(number)]) }
        let names = try BghostTestSupport.File.list(folder.path).sorted()
        #expect(names == ["log", "log.1", "log.2", "log.3"])
        for name in names { #expect(try text(name).utf8.count <= 4000, "\(name)") }
        let found = all().map(\.sequence)
        #expect(found == (0..<found.count).map { UInt64(200 - $0) } && found.count > 60)
        var status = stat()
        #expect(stat(folder.file("log"), &status) == 0 && status.st_mode & 0o777 == 0o640)
        // Fewer files from now on.
        writer.olderFiles = 1
        for number in 201...260 { writer.write([entry(number)]) }
        #expect(try BghostTestSupport.File.list(folder.path).sorted() == ["log", "log.1"])
        writer.olderFiles = 0
        for number in 261...300 { writer.write([entry(number)]) }
        #expect(!(try BghostTestSupport.File.list(folder.path)).contains("log.2"))
    }

    @Test func `One batch is split at the size of a file`() throws {
        let writer = writer(max: 4000, older: 50)
        writer.write((1...200).map { entry($0) })
        #expect(all().map(\.sequence) == (1...200).reversed().map(UInt64.init))
        for name in try BghostTestSupport.File.list(folder.path) {
            #expect(try text(name).utf8.count <= 4000, "\(name)")
        }
    }

    /// What a crash between two renames leaves.
    @Test func `A missing number is no end of the files`() throws {
        let first = writer(max: 4000)
        for number in 1...100 { first.write([entry(number)]) }
        let before = all().count
        #expect(rename(folder.file("log.2"), folder.file("log.3")) == 0)
        #expect(all().count > before / 2)
        for number in 101...150 { first.write([entry(number)]) }
        #expect(all().first?.sequence == 150)
    }

    // MARK: Files in the way

    @Test func `What is no ordinary file is refused and not followed`() throws {
        _ = try folder.write("secret", to: "target")
        let ways: [(String, () -> Int32)] = [
            ("a symbolic link", { symlink(folder.file("target"), folder.file("log")) }),
            ("a FIFO", { mkfifo(folder.file("log"), 0o600) }),
            ("a folder", { mkdir(folder.file("log"), 0o700) }),
        ]
        for (words, make) in ways {
            #expect(make() == 0)
            let error = #expect(throws: LogFileError.self) { try path.checkKind() }
            #expect(error?.isAboutKind == true && error?.description.contains(words) == true)
            #expect(error?.description.contains("host.log.file") == true)
            let writer = writer()
            writer.write([entry(1)])
            #expect(writer.problem?.isAboutKind == true && writer.lost == 1)
            #expect(unlink(folder.file("log")) == 0 || rmdir(folder.file("log")) == 0)
            // Out of the way, it is written.
            writer.write([entry(2)])
            #expect(writer.problem == nil)
            #expect(try text("log").contains("1 line was not written here"))
            #expect(unlink(folder.file("log")) == 0)
        }
        #expect(try text("target") == "secret")
    }

    @Test func `A folder that others can change is refused`() throws {
        #expect(mkdir(folder.file("open"), 0o777) == 0 && chmod(folder.file("open"), 0o777) == 0)
        let path = LogPath(live: folder.file("open/log"), allowsUntrustedFiles: false)
        let writer = LogFileWriter(path, LogSettings())
        writer.write([entry(1)])
        #expect(writer.problem?.description.contains("others could replace it") == true)
    }

    @Test func `A database is not written into`() throws {
        let text = "SQLite format 3\0 and its pages"
        _ = try folder.write(text, to: "log")
        let writer = writer()
        writer.write([entry(1)])
        #expect(writer.problem?.description.contains("is a database") == true && writer.lost == 1)
        #expect(try self.text("log") == text)
    }

    @Test func `Two writers do not share a file`() throws {
        let (first, second) = (writer(), writer())
        first.write([entry(1)])
        second.write([entry(2)])
        #expect(second.problem?.description.contains("another process writes the log") == true)
        #expect(all().count == 1)
    }

    @Test func `A program that is being started does not keep the file`() throws {
        var first: LogFileWriter? = writer()
        first?.write([entry(1)])
        // Such a program has a copy of each descriptor until it is executed.
        let copies = try BghostTestSupport.File.list("/proc/self/fd").compactMap(Int32.init)
            .filter { descriptor in
                var (one, other) = (stat(), stat())
                return fstat(descriptor, &one) == 0 && stat(folder.file("log"), &other) == 0
                    && one.st_ino == other.st_ino && one.st_dev == other.st_dev
            }
            .map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        first = nil
        let second = writer()
        second.write([entry(2)])
        #expect(second.problem == nil)
    }

    @Test func `A deleted file, and a deleted folder, is made again`() throws {
        let path = LogPath(live: folder.file("sub/log"), allowsUntrustedFiles: false)
        let writer = LogFileWriter(path, LogSettings())
        writer.write([entry(1)])
        #expect(unlink(folder.file("sub/log")) == 0)
        writer.write([entry(2)])
        #expect(try text("sub/log").contains(#""sequence":2"#))
        #expect(unlink(folder.file("sub/log")) == 0 && rmdir(folder.file("sub")) == 0)
        writer.write([entry(3)])
        #expect(try text("sub/log").contains(#""sequence":3"#) && writer.lost == 0)
    }

    @Test func `A moved file is written on until it is opened again`() throws {
        let writer = writer()
        writer.write([entry(1)])
        #expect(rename(folder.file("log"), folder.file("log.1")) == 0)
        writer.write([entry(2)])
        #expect(writer.isMoved && access(folder.file("log"), F_OK) != 0)
        writer.reopen()
        writer.write([entry(3)])
        #expect(!writer.isMoved)
        #expect(try text("log.1").split(separator: "\n").count == 2)
        #expect(all().map(\.sequence) == [3, 2, 1])
    }

    @Test func `Half a line is closed and not read`() throws {
        for format in [LogSettings.Format.json, .logfmt] {
            do { writer(format).write([entry(1), entry(2)]) }
            // As a daemon that was killed while it wrote.
            let whole = try text("log")
            _ = try folder.write(String(whole.dropLast(5)), to: "log")
            let second = LogFileWriter(
                LogPath(live: folder.file("log"), allowsUntrustedFiles: true),
                LogSettings(format: format)
            )
            #expect(all(format: format).map(\.sequence) == [1])
            second.write([entry(3)])
            #expect(second.problem == nil)
            #expect(all(format: format).map(\.sequence) == [3, 1])
            #expect(unlink(folder.file("log")) == 0)
        }
    }

    // MARK: Search

    @Test(arguments: [LogSettings.Format.json, .logfmt], [1, 7, 1000])
    func `Pages have all lines once`(format: LogSettings.Format, page: Int) throws {
        let writer = writer(max: 20_000, older: 50, format)
        let long = String(repeating: "long ", count: 400)
        for number in 1...300 {
            writer.write([entry(number, number % 10 == 0 ? long : "short", task: "t\(number % 3)")])
        }
        #expect(
            all(page: page, format: format).map(\.sequence) == (1...300).reversed().map(UInt64.init)
        )
        let some = all(LogFilter(task: "t1", text: "SHORT"), page: page, format: format)
        #expect(
            some.map(\.sequence)
                == (1...300).reversed().filter { $0 % 3 == 1 && $0 % 10 != 0 }.map(UInt64.init)
        )
    }

    @Test func `A time range is found by halving`() throws {
        let writer = writer(max: 64 << 20)
        writer.write((1...40_000).map { entry($0) })
        let second: Int64 = 1_000_000_000
        for (since, until) in [
            (1, 10), (20_000, 20_100), (39_990, 50_000), (-5, 3), (40_001, 40_002),
        ] {
            let filter = LogFilter(since: Int64(since) * second, until: Int64(until) * second)
            let expected = (1...40_000).filter { $0 >= since && $0 < until }
            let findings = reader().search(LogSearch(filter, limit: 1000))
            #expect(
                findings.lines.map(\.entry.sequence) == expected.reversed().map(UInt64.init),
                "\(since)"
            )
            #expect(findings.next == nil)
        }
    }

    @Test func `One search reads a bounded number of bytes, and the next goes on`() throws {
        let writer = writer(max: 1 << 30)
        let long = String(repeating: "x", count: 4000)
        for start in stride(from: 1, through: 10_000, by: 500) {
            writer.write(
                (start..<start + 500).map { entry($0, long, task: $0 == 3 ? "rare" : "often") }
            )
        }
        var search = LogSearch(LogFilter(task: "rare"), limit: 1)
        var pages = 0
        var found: [LogEntry] = []
        repeat {
            let findings = reader().search(search)
            found += findings.lines.map(\.entry)
            search.before = findings.next
            pages += 1
        } while search.before != nil && found.isEmpty
        #expect(found.map(\.sequence) == [3] && pages == 3, "\(pages)")
    }

    @Test func `Lines that memory has are left out, of this daemon only`() throws {
        let first = writer()
        first.write((1...5).map { entry($0, "old") })
        let start = LogCursor(
            file: try #require(first.start).file,
            offset: UInt64(try text("log").utf8.count)
        )
        first.write((1...5).map { entry($0, "new") })
        let findings = reader(start: start)
            .search(LogSearch(LogFilter(), limit: 100, belowSequence: 3))
        #expect(
            findings.lines.map(\.entry.message) == [
                "new", "new", "old", "old", "old", "old", "old",
            ]
        )
    }

    @Test func `Bytes that are no lines are passed over`() throws {
        let writer = writer()
        writer.write([entry(1)])
        let good = try text("log")
        var bytes = Array(good.utf8)
        bytes += [UInt8](repeating: 0, count: 3 << 20) + [UInt8(ascii: "\n")]
        bytes += Array("not json\n{\"level\":\"info\"}\n\n".utf8)
        bytes += Array(good.replacing(#""sequence":1"#, with: #""sequence":2"#).utf8)
        _ = try folder.write(bytes, to: "log")
        #expect(all().map(\.sequence) == [2, 1])
        #expect(
            reader().search(LogSearch(LogFilter(), limit: 1, before: LogCursor(file: 1, offset: 5)))
                .lines.isEmpty
        )
    }

    // MARK: The front

    @Test func `Lines from before the file is opened are written`() throws {
        let files = LogFiles(stateDirectory: folder.path)
        for number in 1...3 { files.write(entry(number)) }
        let settings = LogSettings(file: "log")
        try files.prepare(settings)
        files.apply(settings)
        files.write(entry(4))
        files.flush(seconds: 120)
        #expect(all().map(\.sequence) == [4, 3, 2, 1])
        #expect(
            try LogFileRecord(stateDirectory: folder.path).search(LogSearch(LogFilter(), limit: 9))
                .lines.count == 4
        )
        #expect(files.status?.problem == nil && files.status?.path == folder.file("log"))
        // Without a file, nothing is kept and the record is removed.
        files.apply(LogSettings())
        files.write(entry(5))
        files.flush(seconds: 120)
        #expect(files.status == nil)
        #expect(throws: LogFileError.self) { try LogFileRecord(stateDirectory: folder.path) }
    }

    @Test func `Lines from before the file was given up are written`() throws {
        let files = LogFiles(stateDirectory: folder.path)
        files.apply(LogSettings(file: "log"))
        files.flush(seconds: 120)
        // More than the thread writes meanwhile.
        for number in 1...5000 { files.write(entry(number)) }
        files.apply(LogSettings())
        files.flush(seconds: 120)
        #expect(all().map(\.sequence) == (1...5000).reversed())
        #expect(files.status == nil)
    }

    @Test func `A disk that is too slow costs lines of plugins first, and the file says how many`()
        throws
    {
        let files = LogFiles(stateDirectory: folder.path)
        // Nothing is written before the first settings, as by a disk that hangs.
        var loud = entry(0)
        (loud.source, loud.plugin) = (.stdout, "loud")
        for _ in 0..<20_000 { files.write(loud) }
        for number in 1...100 { files.write(entry(number, "daemon")) }
        files.apply(LogSettings(file: "log"))
        files.flush(seconds: 120)
        let lines = all()
        #expect(lines.count { $0.message == "daemon" } == 100)
        #expect(lines.count { $0.plugin == "loud" } == 6144)
        #expect(
            lines.contains {
                $0.message == "13856 lines were not written here: the disk was too slow"
            }
        )
        #expect(files.status?.lost == 13_856)
    }
}
