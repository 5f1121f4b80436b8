// SPDX-License-Identifier: Apache-2.0

import BghostPlugin
import BghostTestSupport
import Glibc
import Testing

/// Files that are no plugin at all, or no longer.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct RefusedFileTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func refusal(_ path: String) -> ImageError? {
        #expect(throws: ImageError.self) { try PluginImage.inspect(path: path) }
    }

    @Test func `A file that is not there is refused`() {
        let error = refusal(folder.file("absent.so"))
        #expect(error?.problem == .cannotOpen(errno: ENOENT))
        #expect(error?.description.contains("No such file") == true)
    }

    @Test func `A folder is refused`() {
        #expect(refusal(folder.path)?.problem == .notRegular(kind: "a directory"))
    }

    /// Opening a FIFO for reading would wait for a writer.
    @Test func `A FIFO is refused`() {
        mkfifo(folder.file("fifo"), 0o600)
        #expect(refusal(folder.file("fifo"))?.problem == .notRegular(kind: "a FIFO"))
    }

    @Test(arguments: ["/dev/null", "/dev/zero"]) func `A device is refused`(path: String) {
        #expect(refusal(path)?.problem == .notRegular(kind: "a device"))
    }

    @Test func `Open descriptor of something else`() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let error = #expect(throws: ImageError.self) {
            try PluginImage.inspect(descriptor: ends[0], path: "a pipe")
        }
        #expect(error?.code == "not-a-file")
        let closed = #expect(throws: ImageError.self) {
            try PluginImage.inspect(descriptor: -1, path: "nothing")
        }
        #expect(closed?.problem == .cannotRead(errno: EBADF))
    }

    @Test func `An empty file is refused`() throws {
        let error = refusal(try folder.write("", to: "empty.so"))
        #expect(error?.code == "not-elf")
        #expect(error?.description.contains("is empty") == true)
    }

    @Test func `A text is refused`() throws {
        let error = refusal(try folder.write("hello\nworld, how are you?\n", to: "text.so"))
        #expect(error?.code == "not-elf")
        #expect(error?.description.contains(#"it begins with "hello\x0aworld, how""#) == true)
    }

    @Test func `Sparse giants are refused`() throws {
        let path = try folder.write("", to: "giant.so")
        #expect(truncate(path, 2 << 30) == 0)
        let error = refusal(path)
        #expect(error?.problem == .tooLarge(bytes: 2 << 30))
        #expect(truncate(path, 256 << 20) == 0)
        #expect(refusal(path)?.code == "not-elf")
    }

    @Test func `A program is refused`() {
        let error = refusal("/bin/sh")
        #expect(error?.problem == .notLibrary(kind: "a program"))
    }

    struct Change: Sendable, CustomTestStringConvertible {
        /// Whether the offset counts from the header of the first part to load.
        var inLoad = false
        var offset: Int
        var bytes: [UInt8]
        var code: String
        var says: String

        var testDescription: String { "\(inLoad ? "load " : "")\(offset): \(bytes) \(code)" }
    }

    #if arch(x86_64)
        static let other: (code: UInt8, says: String) = (
            183, "is built for aarch64, this machine is x86-64"
        )
    #else
        static let other: (code: UInt8, says: String) = (
            62, "is built for x86-64, this machine is aarch64"
        )
    #endif

    @Test(arguments: [
        Change(offset: 4, bytes: [1], code: "not-64-bit", says: "32-bit"),
        Change(offset: 5, bytes: [2], code: "not-little-endian", says: "big-endian"),
        Change(offset: 6, bytes: [9], code: "malformed", says: "ELF version"),
        Change(offset: 16, bytes: [1], code: "not-a-library", says: "an object file (.o)"),
        Change(offset: 16, bytes: [2], code: "not-a-library", says: "a program"),
        Change(offset: 16, bytes: [4], code: "not-a-library", says: "a core dump"),
        Change(offset: 18, bytes: [other.code], code: "wrong-machine", says: other.says),
        Change(offset: 18, bytes: [0xE7, 0x03], code: "wrong-machine", says: "machine 999"),
        Change(offset: 32, bytes: huge, code: "cut-off", says: "the table of program headers"),
        Change(offset: 40, bytes: huge, code: "cut-off", says: "the table of sections"),
        Change(offset: 54, bytes: [32, 0], code: "malformed", says: "unknown size"),
        Change(offset: 56, bytes: [0, 0], code: "malformed", says: "0 program headers"),
        Change(offset: 56, bytes: [0xFF, 0xFF], code: "malformed", says: "65535 program headers"),
        Change(offset: 60, bytes: [0xFF, 0xFF], code: "malformed", says: "65535 sections"),
        Change(offset: 62, bytes: [0xFF, 0xFF], code: "malformed", says: "lie in no section"),
        Change(inLoad: true, offset: 8, bytes: huge, code: "cut-off", says: "a part to load"),
        Change(inLoad: true, offset: 32, bytes: huge, code: "cut-off", says: "a part to load"),
        Change(
            inLoad: true,
            offset: 16,
            bytes: huge,
            code: "malformed",
            says: "impossible addresses"
        ),
        Change(
            inLoad: true,
            offset: 40,
            bytes: [0],
            code: "malformed",
            says: "impossible addresses"
        ),
        Change(inLoad: true, offset: 48, bytes: [3], code: "malformed", says: "not aligned"),
    ])
    func `A changed header is refused`(change: Change) throws {
        var bytes = try File.read(try Fixture.library("good"))
        let headers = stride(from: 64, to: 64 + 56 * Int(bytes[56]), by: 56)
        let load = try #require(headers.first { bytes[$0] == 1 })
        let start = change.offset + (change.inLoad ? load : 0)
        bytes.replaceSubrange(start..<start + change.bytes.count, with: change.bytes)
        let error = refusal(try folder.write(bytes, to: "changed.so"))
        #expect(error?.code == change.code)
        #expect(error?.description.contains(change.says) == true, "\(String(describing: error))")
    }

    static let huge = [UInt8](repeating: 0xFF, count: 8)

    /// A copy that stopped half way is refused wherever it stopped.
    @Test func `Every truncation is refused`() throws {
        let whole = try File.read(try Fixture.library("good"))
        let path = try folder.write(whole, to: "cut.so")
        let sizes = Array(0..<1024) + stride(from: 1024, to: whole.count, by: 512)
        for size in sizes + [whole.count - 1] {
            try folder.write(whole.prefix(size), to: "cut.so")
            let error = #expect(throws: ImageError.self, "\(size) bytes") {
                try PluginImage.inspect(path: path)
            }
            #expect(error?.code == (size < 4 ? "not-elf" : "cut-off"), "\(size) bytes")
        }
    }
}
