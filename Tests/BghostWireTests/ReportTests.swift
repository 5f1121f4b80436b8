// SPDX-License-Identifier: Apache-2.0

@testable import BghostWire
import BghostWireMessages
import Testing

/// Reports come from a process that has just crashed and are untrusted.
@Suite struct ReportTests {
    private func read(_ text: String, flags: UInt8 = 0) throws -> [Message] {
        let payload = Array(text.utf8)
        let count = UInt32(payload.count)
        let length = 20 + count
        let header: [UInt8] =
            withUnsafeBytes(of: length.littleEndian) { Array($0) } + [0x89, 1, flags, 0]
            + [UInt8](repeating: 0, count: 8)
            + withUnsafeBytes(of: count.littleEndian) { Array($0) }
        return try Message.read(header + payload)
    }

    private func parsed(_ text: String, flags: UInt8 = 0) throws -> Report? {
        for case .report(let report) in try read(text, flags: flags) { return report }
        return nil
    }

    @Test func `Threads and frames are bounded`() throws {
        let thread = "T a\n" + String(repeating: "F b\n", count: 100)
        let all = String(repeating: thread, count: 50)
        let report = try #require(try parsed(all))
        #expect(report.threads.count == Report.threadsMax)
        #expect(report.threads.allSatisfy { $0.frames.count <= Report.framesMax })
    }

    @Test(arguments: [
        "X a\n", "P \u{7f}\n", "P \u{1b}[2J\n", "P é\n", "P \0\n",
        "P " + String(repeating: "a", count: Report.bytesMax) + "\n",
    ])
    func `A malformed report is refused`(text: String) {
        #expect(throws: WireError.self) { try read(text) }
    }

    @Test(arguments: ["", "\n\n", "S", "S x\n", "F lost\n", "T"])
    func `A truncated report is read as far as it goes`(text: String) throws {
        let report = try #require(try parsed(text, flags: 1))
        #expect(report.isOfThreads && report.signal == 0 && report.place.isEmpty)
    }
}
