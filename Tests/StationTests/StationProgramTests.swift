// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Subprocess
import SystemPackage
import Testing

/// The program as it is built, in its own process.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct StationProgramTests {
    static let program = Artifact.path("stormy-station")

    /// Starts the program, hands over what it writes line by line, and returns its end.
    private func run(
        _ arguments: [String],
        each line: @Sendable (String, Int32) async throws -> Signal?
    ) async throws -> (end: TerminationStatus, lines: [String]) {
        let result = try await Subprocess.run(
            .path(FilePath(Self.program)),
            arguments: Arguments(arguments),
            input: .none,
            output: .sequence,
            error: .combinedWithOutput
        ) { execution in
            var lines: [String] = []
            for try await text in execution.standardOutput.strings() {
                lines.append(text)
                if let signal = try await line(text, execution.processIdentifier.value) {
                    try execution.send(signal: signal)
                }
            }
            return lines
        }
        return (result.terminationStatus, result.closureResult)
    }

    @Test(arguments: [Signal.terminate, .interrupt]) func `The program serves until it is stopped`(
        until signal: Signal
    ) async throws {
        let served = try await run(["serve", "--port", "0"]) { line, pid in
            let prefix = #"{"event":"listening","port":"#
            let port = try #require(Int(line.dropFirst(prefix.count).dropLast()))
            #expect(line == "\(prefix)\(port)}")
            // Another one cannot have the port, and says whose it is.
            let second = try Command.run([Self.program, "serve", "--port", "\(port)"])
            #expect(second.exitCode == 73)
            #expect(second.output.isEmpty)
            #expect(second.error.contains("is taken by stormy-station, process \(pid): stop it"))
            return signal
        }
        #expect(served.end == .exited(0))
        #expect(served.lines.count == 1)
    }

    @Test(arguments: [["--port", "65536"], ["--port", "-1"], ["--prot", "1"]])
    func `Wrong arguments are refused`(_ arguments: [String]) throws {
        let result = try Command.run([Self.program, "serve"] + arguments)
        #expect(result.exitCode == 64)
        #expect(result.output.isEmpty)
    }

    @Test func `Refuses a record that cannot be written`() throws {
        let result = try Command.run([Self.program, "serve", "--record", "/nowhere/x"])
        #expect(result.exitCode == 73)
        #expect(result.error.contains("cannot write the record to /nowhere/x"))
    }

    /// Ctrl-C in the middle of a play: the daemon is drained before the player goes.
    @Test func `Interrupts a play in order`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient, runs: "exit 3")
        let arguments = [
            "play", "--bghost", standIn.folder.file("bghost"), "--config",
            standIn.folder.file("tasks.json"), "--port", "0",
        ]
        let played = try await run(arguments) { line, _ in
            line.contains("| ready in ") ? .interrupt : nil
        }
        #expect(played.end == .exited(130))
        #expect(played.lines.contains("  bghost | drained"))
        #expect(played.lines.last?.contains("interrupted; the daemon exited with 0") == true)
    }
}
