// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctionCalls
@testable import BghostPlugin
import BghostTestSupport
import Glibc
import Testing

/// Calls leave no memory behind, in a process of its own so that no other test's memory counts.
@Suite(.timeLimit(.minutes(5))) struct FunctionMemoryTests {
    @Test(.disabled(if: sanitizerIsOn)) func `Many calls leak nothing`() async {
        await #expect(processExitsWith: .success) {
            let copy = try FunctionFixture.function(
                "copy",
                "owned string(text: string, unused: out bytes(4096)) != null"
            )
            let bump = try FunctionFixture.function(
                "bump",
                "void(pair: inout {x: int, y: double})"
            )
            func rounds(_ count: Int) throws {
                for _ in 0..<count {
                    _ = try copy.answer(#"{"text": "\#(String(repeating: "t", count: 500))"}"#)
                    _ = try bump.answer(#"{"pair": [1, 2]}"#)
                    _ = bump.refusal(#"{"pair": [1]}"#)
                    _ = try ForeignFunction(
                        library: copy.library,
                        symbol: "echo_pair",
                        signature: "{int, double}({int, double})"
                    )
                }
            }
            // The counter must be able to see a leak of the size in question.
            let start = try residentBytes()
            var leak: [UnsafeMutableRawPointer?] = []
            for _ in 0..<2000 {
                leak.append(malloc(4096))
                leak.last??.initializeMemory(as: UInt8.self, repeating: 1, count: 4096)
            }
            #expect(try residentBytes() - start > 4 << 20)
            leak.forEach { free($0) }
            try rounds(200)
            let before = try residentBytes()
            try rounds(4000)
            // 4000 of the smallest block that a call takes would be 16 MiB with its buffer.
            #expect(try residentBytes() - before < 1 << 20)
        }
    }
}

/// The resident memory of this process.
private func residentBytes() throws -> Int {
    let fields = String(decoding: try File.read("/proc/self/statm"), as: UTF8.self)
        .split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
}
