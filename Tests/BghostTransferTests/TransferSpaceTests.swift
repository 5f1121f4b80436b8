// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostLinux
import BghostTransferRules
import BghostStore
import BghostTestSupport
@testable import BghostTransfer
import Glibc
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct TransferSpaceTests {
    /// A small file system of its own; a path through a descriptor would have a link, which is not followed.
    private final class SmallDisk: Sendable {
        private let folder: TemporaryDirectory

        init?(bytes: Int) throws {
            folder = try TemporaryDirectory()
            guard Glibc.mount("none", folder.path, "tmpfs", 0, "size=\(bytes)") == 0 else {
                return nil
            }
        }

        deinit {
            let detached: Int32 = 2
            umount2(folder.path, detached)
        }

        var path: String { folder.path }
    }

    private static let mayMount =
        (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

    @Test(.enabled(if: mayMount, "mounting needs root"))
    func `A transfer waits for room on a full disk`() async throws {
        let content = sample(1 << 20)
        let host = FileHost(content)
        let disk = try #require(try SmallDisk(bytes: 1_600_000))
        let ballast = "\(disk.path)/ballast"
        try File.write([UInt8](repeating: 1, count: 1_200_000), to: ballast)
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let witness = TransferWitness()
            let clock = ManualClock()
            let engine = TransferEngine(
                journal: MemoryTransferJournal(),
                clock: clock,
                observer: witness,
                random: { $0 - 1 }
            ) { _ in
                TransferAccess(writable: [disk.path], readable: [], permits: { _, _ in true })
            }
            let request = TransferRequest(
                id: RunID(high: 1, low: 1),
                plugin: "p",
                session: "s",
                kind: .download,
                url: "http://127.0.0.1:\(port)/x",
                file: "\(disk.path)/file",
                createdAt: clock.unixNow
            )
            _ = try await engine.create(request)
            let record = await witness.first(.retrying)
            #expect(record.status.fault?.code == .noSpace, "\(record.status)")
            #expect(access("\(disk.path)/file", F_OK) != 0)
            #expect(unlink(ballast) == 0)
            clock.advance(by: .seconds(1))
            _ = await witness.ends(count: 1)
            #expect(try Bytes(File.read("\(disk.path)/file")) == Bytes(content))
            await engine.shutDown()
        }
    }

    /// A plugin's limit holds for what the daemon writes for it, before it is written.
    @Test func `A transfer waits until the plugin has room`() async throws {
        let content = sample(3 << 20)
        let host = FileHost(content)
        let folder = try TemporaryDirectory()
        let room = DataRoom(folder: folder.path, bytesMax: 2 << 20) {}
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let witness = TransferWitness()
            let clock = ManualClock()
            let engine = TransferEngine(
                journal: MemoryTransferJournal(),
                clock: clock,
                observer: witness,
                random: { $0 - 1 }
            ) { _ in
                TransferAccess(
                    writable: [folder.path],
                    readable: [],
                    room: room,
                    permits: { _, _ in true }
                )
            }
            let request = TransferRequest(
                id: RunID(high: 1, low: 1),
                plugin: "p",
                session: "s",
                kind: .download,
                url: "http://127.0.0.1:\(port)/x",
                file: folder.file("file"),
                createdAt: clock.unixNow
            )
            _ = try await engine.create(request)
            let record = await witness.first(.retrying)
            #expect(record.status.fault?.code == .noSpace, "\(record.status)")
            let usage = FolderUsage(of: folder.path, bytesMax: .max, entriesMax: 10)
            #expect(usage.bytes <= 2 << 20, "\(usage.bytes)")
            room.setLimits(bytes: 8 << 20, files: .max)
            clock.advance(by: .seconds(1))
            _ = await witness.ends(count: 1)
            #expect(try Bytes(File.read(folder.file("file"))) == Bytes(content))
            // Every byte that was taken is known to be written; the content has whole blocks.
            #expect(room.mark.bytes == content.count)
            await engine.shutDown()
        }
    }

    @Test func `A transfer waits until the plugin may have one more file`() async throws {
        let host = FileHost(sample(1))
        let folder = try TemporaryDirectory()
        let room = DataRoom(folder: folder.path, bytesMax: 16 << 10, filesMax: 2) {}
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let witness = TransferWitness()
            let clock = ManualClock()
            let engine = TransferEngine(
                journal: MemoryTransferJournal(),
                clock: clock,
                observer: witness,
                random: { $0 - 1 }
            ) { _ in
                TransferAccess(
                    writable: [folder.path],
                    readable: [],
                    room: room,
                    permits: { _, _ in true }
                )
            }
            func begin(_ number: UInt64) async throws {
                let request = TransferRequest(
                    id: RunID(high: 1, low: number),
                    plugin: "p",
                    session: "s",
                    kind: .download,
                    url: "http://127.0.0.1:\(port)/x",
                    file: folder.file("file\(number)"),
                    createdAt: clock.unixNow
                )
                _ = try await engine.create(request)
            }
            for number in 1...2 as ClosedRange<UInt64> {
                try await begin(number)
                _ = await witness.ends(count: Int(number))
            }
            // A file of one byte uses a block.
            #expect(room.mark.bytes == 8192)
            try await begin(3)
            let record = await witness.first(.retrying)
            #expect(record.status.fault?.code == .noSpace, "\(record.status)")
            #expect(record.status.fault?.detail.contains("limits.files") == true)
            #expect(try File.list(folder.path).sorted() == ["file1", "file2"])
            room.setLimits(bytes: 16 << 10, files: 3)
            clock.advance(by: .seconds(1))
            _ = await witness.ends(count: 3)
            await engine.shutDown()
        }
    }

    @Test(arguments: [
        (ENOSPC, TransferFault.Code.noSpace), (EMFILE, .limit), (ENFILE, .limit), (EIO, .limit),
        (EROFS, .limit), (ENOENT, .file), (EACCES, .file), (EISDIR, .file),
    ])
    func `Only what stays so ends a transfer`(error: Int32, code: TransferFault.Code) {
        let fault = TransferAccess.fault("/data/x", SystemError("open", code: error))
        #expect(fault.code == code)
        #expect((fault.verdict == .final) == (code == .file))
    }

    /// A limit on the size of files ends neither the process nor the transfer.
    @Test func `A file that may not grow is waited for`() async throws {
        let content = sample(3 << 20)
        let host = FileHost(content)
        let folder = try TemporaryDirectory()
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let words = "download \(folder.path) http://127.0.0.1:\(port)/x 3600000000000"
            let runner = "exec \(Artifact.path("transfer-runner")) \(words)"
            // In blocks of 512 bytes: a megabyte.
            let bounded = try await Command.runApart(["sh", "-c", "ulimit -f 2048; \(runner)"])
            #expect(bounded.output == "no space\n", "\(bounded)")
            #expect(try !File.list(folder.path).contains("file"))
            let free = try await Command.runApart(["sh", "-c", runner])
            #expect(free.output == "done\n", "\(free)")
        }
        #expect(try Bytes(File.read(folder.file("file"))) == Bytes(content))
        // Bytes that had room are not fetched again.
        #expect(host.requests.compactMap(\.rangeStart).contains { $0 > 0 })
    }
}
