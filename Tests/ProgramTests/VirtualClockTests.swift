// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// `bghost run --virtual-clock`.
@Suite(.ownThreads) struct VirtualClockTests {
    private static let manifest = """
        {
          "version": 1,
          "plugins": { "p": { "library": "absent.so" } },
          "tasks": {
            "com.example.noon": {
              "plugin": "p", "handler": "a", "calendar": "0 12 * * *",
              "timeZone": "Europe/Berlin", "requires": { "externalPower": true }
            },
            "com.example.night": {
              "plugin": "p", "handler": "b", "calendar": "30 2 * * *",
              "timeZone": "Europe/Berlin", "gap": "skip", "fold": "both"
            }
          }
        }
        """

    private func play(_ arguments: String...) throws -> Command.Result {
        let folder = try TemporaryDirectory()
        let path = folder.file("tasks.json")
        try File.write(Self.manifest.utf8, to: path)
        return try Command.run(
            [
                Artifact.path("bghost"), "run", "--config", path,
                "--from", "2026-01-01T00:00:00Z",
            ] + arguments
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `A simulated year has each day, also those of clock changes`() throws {
        let year = try play("--virtual-clock", "seed=1", "--behavior", "perfect", "--json")
        #expect(year.exitCode == 0, "\(year.error)")
        let answer = try JSONReader.parse(Array(year.output.utf8))
        #expect(answer["faults"]?.text == "0")
        let tasks = try #require(answer["tasks"]?.array)
        let runs = tasks.compactMap { $0["runs"]?.text }
        // The night without 2:30 is left out, and the one with two of them has both.
        #expect(runs == ["365", "365"])
        let spring = try play(
            "--virtual-clock",
            "1",
            "--behavior",
            "perfect",
            "--for",
            "88d",
            "--json"
        )
        let early = try JSONReader.parse(Array(spring.output.utf8))["tasks"]?.array
        // Up to 30 March: noon has been 88 times, half past two not on the 29th.
        #expect(early?.compactMap { $0["runs"]?.text } == ["87", "88"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `The same seed gives the same events`() throws {
        let seeds = ["seed=7", "seed=7", "seed=8"]
        let plays = try seeds.map {
            try play("--virtual-clock", $0, "--behavior", "hostile", "--for", "60d", "--trace")
        }
        #expect(plays.allSatisfy { $0.exitCode == 0 })
        #expect(plays[0].output.split(separator: "\n").count > 200)
        #expect(plays[0].output == plays[1].output)
        #expect(plays[0].output != plays[2].output)
    }

    /// The seed says all: without `--from` it is not the present that is played.
    @Test(.timeLimit(.minutes(5)))
    func `A seed gives the same events on any date`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("tasks.json")
        try File.write(Self.manifest.utf8, to: path)
        func play(_ arguments: [String]) throws -> Command.Result {
            try Command.run(
                [
                    Artifact.path("bghost"), "run", "--config", path, "--virtual-clock", "seed=7",
                    "--behavior", "hostile", "--for", "60d", "--trace",
                ] + arguments
            )
        }
        let plays = [try play([]), try play([]), try play(["--from", "2026-01-01T00:00:00Z"])]
        #expect(plays[0].output.split(separator: "\n").count > 200)
        #expect(plays[0].output == plays[1].output)
        #expect(plays[0].output == plays[2].output)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [["--trace"], ["--virtual-clock", "x"]])
    func `Invalid options of a simulation are refused`(arguments: [String]) throws {
        let answer = try Command.run(
            [Artifact.path("bghost"), "run", "--config", "tasks.json"] + arguments
        )
        #expect(answer.exitCode == 64)
        #expect(answer.error.contains("--virtual-clock") || answer.error.contains("seed=7"))
    }
}
