// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// `--parameters` with bytes that are not UTF-8, which must not become other parameters.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct ParameterBytesTests {
    private static let bytes = Array(#"{"name":""#.utf8) + [0xFF] + Array(#""}"#.utf8)

    @Test(arguments: ["submit", "trigger"])
    func `A file that is not UTF-8 is refused with the place`(command: String) async throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("parameters.json")
        try File.write(Self.bytes, to: file)
        let result = try await Bghost.run([command, "x", "--parameters", "@\(file)"])
        #expect(result.exitCode == 64, "\(result)")
        #expect(
            result.error.contains("--parameters: these bytes are not UTF-8, at byte 9"),
            "\(result)"
        )
    }

    @Test func `An argument that is not UTF-8 is refused`() async throws {
        let program = Artifact.path("bghost")
        let result = try await onThread {
            try Command.run([
                "sh", "-c",
                #"exec "$0" submit x --parameters "$(printf '{"name":"\377"}')""#, program,
            ])
        }
        #expect(result.exitCode == 64, "\(result)")
        #expect(result.error.contains("--parameters: the argument is not UTF-8"), "\(result)")
    }

    @Test func `A replacement character that was typed is one`() async throws {
        let result = try await Bghost.run(["submit", "x", "--parameters", "[\"\u{FFFD}\"]"])
        #expect(result.error.contains("--parameters: the value is not an object"), "\(result)")
    }
}
