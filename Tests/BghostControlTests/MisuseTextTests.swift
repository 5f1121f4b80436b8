// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostModel
import BghostTestSupport
import Testing

/// What a refused command line or body is told.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct MisuseTextTests {
    @Test(arguments: [
        ["submit", "x", "--earliest", "\u{1B}[2Jsoon"], ["submit", "x", "--\u{1B}[2J"],
        ["submit", "x", "y", "\u{1B}[2J\u{202E}"],
    ])
    func `Arguments reach no terminal with their control characters`(
        arguments: [String]
    ) async throws {
        let result = try await Bghost.run(arguments)
        #expect(result.exitCode == 64, "\(result)")
        #expect(!result.error.contains("\u{1B}") && !result.error.contains("\u{202E}"))
        #expect(result.error.contains(#"\u{1B}[2J"#), "\(result)")
        #expect(result.error.contains("\nUsage: "), "\(result)")
    }

    @Test(arguments: ["--earliest", "--latest"])
    func `A time after the last possible one is told the range`(option: String) async throws {
        let result = try await Bghost.run(["submit", "x", option, "9999-12-31T23:59:59Z"])
        #expect(result.exitCode == 64 && result.error.contains("from 1677 to 2262"), "\(result)")
    }

    @Test(arguments: ["earliestBegin", "latestBegin"])
    func `A body with a time after the last possible one is told the range`(key: String) throws {
        let body = #"{"task":"a","\#(key)":"9999-12-31T23:59:59Z"}"#
        let fault = #expect(throws: ControlFault.self) {
            try API.SubmitBody.read(Array(body.utf8)).submission(path: nil)
        }
        #expect(
            fault?.message == "`\(key)` is not a time from 1677 to 2262 as RFC 3339 has it"
        )
    }
}
