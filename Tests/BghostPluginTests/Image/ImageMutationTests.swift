// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import Glibc
import Testing

/// Random and designed damage: whatever is read, there is an answer.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ImageMutationTests {
    let folder: TemporaryDirectory
    let good: [UInt8]

    init() throws {
        folder = try TemporaryDirectory()
        good = try File.read(try Fixture.library("good"))
    }

    @Test(arguments: SeededGenerator.seeds(4)) func `Random bytes are read or refused`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<500 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                // Mostly in the headers and tables: the rest is code, which the inspection does not read.
                let limit = Bool.random(using: &generator) ? 0x800 : bytes.count
                let index = Int.random(in: 0..<min(limit, bytes.count), using: &generator)
                bytes[index] =
                    Bool.random(using: &generator) ? .random(in: 0...255, using: &generator) : 0xFF
            }
            if try isRefused(bytes) { refused += 1 }
        }
        // The generator does reach what is checked.
        #expect(refused > 50)
    }

    /// Each aligned word of the headers, the tables and the dynamic section in turn becomes a number
    /// on which arithmetic could overflow.
    @Test(arguments: [UInt64.max, 1 << 63, 1 << 32, UInt64.max - 7, 0])
    func `Huge words are read or refused`(word: UInt64) throws {
        let replacement = withUnsafeBytes(of: word.littleEndian) { Array($0) }
        for offset in stride(from: 8, to: good.count - 8, by: 8) {
            guard offset < 0x600 || good[offset..<offset + 8].contains(where: { $0 != 0 }) else {
                continue
            }
            var bytes = good
            bytes.replaceSubrange(offset..<offset + 8, with: replacement)
            _ = try isRefused(bytes)
        }
    }

    @Test func `File that shrinks while it is open`() throws {
        let path = try folder.write(good, to: "shrinks.so")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        #expect(try PluginImage.inspect(descriptor: descriptor, path: path).entry == .function)
        #expect(lseek(descriptor, 0, SEEK_CUR) == 0)
        #expect(truncate(path, 100) == 0)
        let error = #expect(throws: ImageError.self) {
            try PluginImage.inspect(descriptor: descriptor, path: path)
        }
        #expect(error?.code == "cut-off")
    }

    private func isRefused(_ bytes: [UInt8]) throws -> Bool {
        let path = try folder.write(bytes, to: "damaged.so")
        do throws(ImageError) {
            _ = try PluginImage.inspect(path: path).requireLoadable()
            return false
        } catch {
            #expect(!error.description.isEmpty)
            return true
        }
    }
}
