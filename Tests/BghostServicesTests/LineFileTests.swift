// SPDX-License-Identifier: Apache-2.0

import BghostLinux
@testable import BghostServices
import BghostTestSupport
import Dispatch
import Glibc
import Synchronization
import Testing

/// A file of lines: what it has after a failed write and behind a slow disk, and how much waits for it.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct LineFileTests {
    private final class Endings: Sendable {
        private let all = Mutex<[LineFile.Ending]>([])

        func add(_ ending: LineFile.Ending) { all.withLock { $0.append(ending) } }

        var list: [LineFile.Ending] { all.withLock { $0 } }
    }

    /// A disk with room for so many bytes.
    private final class SmallDisk: Sendable {
        private let room: Mutex<Int>
        let refusals = Mutex(0)

        init(room: Int) { self.room = Mutex(room) }

        func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            room.withLock { room in
                guard room > 0 else {
                    refusals.withLock { $0 += 1 }
                    errno = ENOSPC
                    return -1
                }
                let count = Glibc.write(file, bytes.baseAddress, min(room, bytes.count))
                room -= max(0, count)
                return count
            }
        }
    }

    private let folder: TemporaryDirectory
    private let endings = Endings()

    init() throws { folder = try TemporaryDirectory() }

    private func file(
        waitingMax: Int = 1 << 20,
        write: @escaping LineFile.Write = { Glibc.write($0, $1.baseAddress, $1.count) }
    ) throws -> LineFile {
        let path = folder.file("lines")
        let fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(fd >= 0)
        return LineFile(path, file: fd, waitingMax: waitingMax, write: write) { [endings] in
            endings.add($0)
        }
    }

    private var text: String {
        get throws { String(decoding: try File.read(folder.file("lines")), as: UTF8.self) }
    }

    private func append(_ numbers: Range<Int>, to file: LineFile, holding held: Int = 8) {
        for number in numbers { file.append(holding: held) { Array("\(1000 + number)\n".utf8) } }
    }

    @Test func `All lines are written, in order`() async throws {
        let file = try file()
        append(0..<1000, to: file)
        await file.finish()
        #expect(try text == (0..<1000).map { "\(1000 + $0)\n" }.joined())
        #expect(endings.list.isEmpty)
    }

    @Test func `The first failed write ends the file behind a whole line`() async throws {
        let disk = SmallDisk(room: 17)
        let file = try file { disk.write($0, $1) }
        append(0..<100, to: file)
        await file.finish()
        #expect(try text == "1000\n1001\n1002\n")
        let error = "write \(folder.file("lines")): No space left on device"
        #expect(endings.list == [.failed(error, isWhole: true)])
        #expect(!file.isAccepting)
        // No later line was tried, for which there could be room again.
        #expect(disk.refusals.withLock { $0 } == 1)
    }

    @Test func `Without room for one byte the file is empty`() async throws {
        let disk = SmallDisk(room: 0)
        let file = try file { disk.write($0, $1) }
        append(0..<3, to: file)
        await file.finish()
        #expect(try text.isEmpty)
        #expect(endings.list.count == 1)
    }

    @Test func `A line that cannot be made ends the file`() async throws {
        struct NoLine: Error {}
        let file = try file()
        append(0..<2, to: file)
        file.append(holding: 8) { throw NoLine() }
        append(2..<4, to: file)
        await file.finish()
        #expect(try text == "1000\n1001\n")
        #expect(endings.list == [.failed("NoLine()", isWhole: true)])
    }

    @Test func `A file that cannot be cut may end with half a line`() async throws {
        let fd = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(fd >= 0)
        let file = LineFile("full", file: fd, waitingMax: 100) { [endings] in endings.add($0) }
        append(0..<3, to: file)
        await file.finish()
        #expect(endings.list == [.failed("write full: No space left on device", isWhole: false)])
    }

    @Test func `A slow disk ends the file when too much waits, and what waited is written`()
        async throws
    {
        let isWriting = DispatchSemaphore(value: 0)
        let mayWrite = DispatchSemaphore(value: 0)
        let isFirst = Mutex(true)
        let file = try file(waitingMax: 100) { file, bytes in
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            }) {
                isWriting.signal()
                mayWrite.wait()
            }
            return Glibc.write(file, bytes.baseAddress, bytes.count)
        }
        // However long it is, the line that is being written does not count.
        append(0..<1, to: file, holding: 1000)
        isWriting.wait()
        append(1..<2, to: file, holding: 60)
        append(2..<3, to: file, holding: 60)
        #expect(file.isAccepting && endings.list.isEmpty)
        // Neither these, nor any after them: the file would have a gap.
        append(3..<100, to: file, holding: 1)
        #expect(endings.list == [.behind(waiting: 120)])
        #expect(!file.isAccepting)
        mayWrite.signal()
        await file.finish()
        #expect(try text == "1000\n1001\n1002\n")
        #expect(endings.list.count == 1)
    }

    @Test func `A write that fails behind a slow disk is not reported a second time`() async throws
    {
        let isWriting = DispatchSemaphore(value: 0)
        let mayWrite = DispatchSemaphore(value: 0)
        let disk = SmallDisk(room: 7)
        let isFirst = Mutex(true)
        let file = try file(waitingMax: 10) { file, bytes in
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            }) {
                isWriting.signal()
                mayWrite.wait()
            }
            return disk.write(file, bytes)
        }
        append(0..<1, to: file)
        isWriting.wait()
        append(1..<10, to: file)
        #expect(endings.list == [.behind(waiting: 16)])
        mayWrite.signal()
        await file.finish()
        #expect(try text == "1000\n")
        #expect(endings.list.count == 1)
    }
}
