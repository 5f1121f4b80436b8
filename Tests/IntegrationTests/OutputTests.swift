// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostModel
import BghostServices
import BghostStore
import BghostTestSupport
import Testing

extension Integration {
    /// What handlers print, by Swift's `print()` and by C's `printf()`.
    @Suite struct OutputTests {
        static let printers = ["Swift", "C"]

        private func manifest(_ language: String) throws -> Manifest {
            guard language == "C" else { return try TestManifest.runtime("print") }
            let library = try Fixture.library("print")
            return try TestManifest.plugin("print", library: library, handler: "print")
        }

        /// The last line has no line break, so that only the run's end brings it out.
        @Test(.timeLimit(.minutes(5)), arguments: printers, [3, 300])
        func `The output of a handler belongs to its run`(language: String, lines: Int) async throws
        {
            try await withDaemon(try manifest(language), adjust: { durable(&$0) }) { daemon in
                let wanted = (1...lines).map { "line \($0)" } + ["no line break"]
                for _ in 0..<3 {
                    let record = try await daemon.run(
                        "task",
                        #"{"lines":\#(lines),"last":"no line break"}"#
                    )
                    #expect(record.outcome == .succeeded)
                    #expect(record.usage.outputBytes == wanted.reduce(0) { $0 + $1.utf8.count + 1 })
                    let entries = daemon.log.entries(
                        matching: LogFilter(run: record.id),
                        limit: 1000
                    )
                    #expect(entries.filter { $0.source == .stdout }.map(\.message) == wanted)
                    let stored = await daemon.host.output(ofRun: record.id)
                    #expect(stored == wanted.map { $0 + "\n" }.joined())
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The record keeps the first and the last lines of long output`() async throws {
            try await withDaemon(try manifest("C"), adjust: { durable(&$0) }) { daemon in
                let record = try await daemon.run("task", #"{"lines":20000}"#)
                #expect(record.outcome == .succeeded)
                let stored = await daemon.host.output(ofRun: record.id)
                #expect(stored.utf8.count <= RunDetails.outputBytesMax)
                #expect(stored.utf8.count > RunDetails.outputBytesMax - 128)
                #expect(stored.hasPrefix("line 1\nline 2\n"))
                let all = (1...20_000).reduce(0) { $0 + "line \($1)\n".utf8.count }
                let gap = try #require(stored.firstMatch(of: /\[(\d+) bytes are left out here\]\n/))
                #expect(Int(gap.1) == all - stored.utf8.count + gap.0.utf8.count)
                #expect(stored.hasSuffix("\nline 20000\n"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that is killed keeps the line that it had begun`() async throws {
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(200),
                grace: .milliseconds(50)
            )
            try await withDaemon(manifest, adjust: { durable(&$0) }) { daemon in
                let record = try await daemon.run("print-and-stay")
                #expect(record.outcome == .killed(.graceExceeded))
                #expect(await daemon.host.output(ofRun: record.id) == "no line break\n")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that prints nothing keeps nothing`() async throws {
            try await withDaemon(try manifest("C"), adjust: { durable(&$0) }) { daemon in
                let record = try await daemon.run("task", #"{"lines":0}"#)
                #expect(record.details == nil)
                #expect(await daemon.host.output(ofRun: record.id) == "")
            }
        }
    }
}
