// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import StormyStation
import Testing

@Suite struct ClosingTableTests {
    static let plain = TerminalStyle(unicode: true, colour: false)
    static let ascii = TerminalStyle(unicode: false, colour: false)

    private func lines(_ evidence: Evidence, _ style: TerminalStyle = plain) -> [String] {
        ClosingTable(story: .stormy, evidence: evidence, style: style).lines(
            disagreements: Story.stormy.disagreements(evidence),
            elapsedSeconds: 4.5
        )
    }

    @Test func `Aligns its columns`() {
        let expected = """
              TASK                                OUTCOME                           RUN TIME  PEAK MEMORY  STATION RECORDED
            ✓ com.example.stormy.noon             succeeded (expired)         0.21 s of 25 s       12 MiB  1 request
            ✓ urlSession.weather                  succeeded                                -            -  12 h with 2 h of storm, 400 B of 400 B sent
            ✓ com.example.stormy.notify           succeeded                                -            -  "A storm is coming"
            ✓ com.example.stormy.overrun          killed(graceExceeded)  3.02 s of 2 s + 1 s        512 B  nothing
            ✓ notificationAction.weather-check.*  succeeded                                -            -  nothing
            ✓ com.example.stormy.photos           succeeded (expired)         0.30 s of 10 s     10.5 MiB  1 upload, cut 1 time
            ✓ urlSession.photos                   succeeded                                -            -  storm.jpg, 1 + 2 B, digest verified
            ✓ com.example.stormy.notify           succeeded                                -            -  "Photo uploaded"

            ✓ both sides agree: 8 runs, 1 forecast, 1 photo, 2 notifications in 4.50 s
            """
        #expect(lines(PlayFixture.evidence).joined(separator: "\n") == expected)
    }

    @Test func `Marks only runs that disagree`() {
        var evidence = PlayFixture.evidence
        evidence.runs[2].outcome = "failed"
        evidence.record.photos = []
        let lines = lines(evidence)
        #expect(
            lines.map { $0.first } == [
                " ", "✓", "✓", "✗", "✓", "✓", "✓", "✗", "✓", nil, "✗", "✗", "✗",
            ]
        )
        #expect(lines.last == "✗ the two sides do not agree: 2 disagreements")
    }

    @Test func `Shows a task that never ran`() {
        var evidence = PlayFixture.evidence
        evidence.runs.remove(at: 3)
        #expect(
            lines(evidence).contains {
                $0.hasPrefix("✗ com.example.stormy.overrun          no run ")
            }
        )
    }

    @Test func `Stays within ASCII where nothing else can be shown`() {
        var evidence = PlayFixture.evidence
        evidence.record.photos[0].name = "Gewitter ⚡"
        evidence.daemonEnd = .signalled(9)
        let lines = lines(evidence, Self.ascii)
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
        #expect(lines[1].hasPrefix("ok "))
        #expect(lines.last?.hasPrefix("!! ") == true)
    }

    @Test func `Never passes on control characters`() {
        var evidence = PlayFixture.evidence
        evidence.record.photos[0].name = "\u{1B}]0;x\u{07}\n\u{202E}"
        evidence.runs[0].outcome = "\u{1B}[2J"
        evidence.runs[2].task = String(repeating: "x", count: 5000)
        for line in lines(evidence) {
            #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(!line.unicodeScalars.contains("\u{202E}"))
            #expect(line.count < 600)
        }
    }

    @Test(arguments: [Double.infinity, -1, 1e300, .nan])
    func `Shows whatever number it is given`(value: Double) {
        var evidence = PlayFixture.evidence
        evidence.runs[0].durationSeconds = value
        evidence.runs[0].peakMemoryBytes = value
        #expect(lines(evidence).count > 5)
    }

    @Test func `Colours marks only`() {
        let style = TerminalStyle(unicode: true, colour: true)
        let line = lines(PlayFixture.evidence, style)[1]
        #expect(line.hasPrefix("\u{1B}[32m✓\u{1B}[0m com.example.stormy.noon "))
    }

    @Test(arguments: [
        (true, ["LANG": "C.UTF-8"], true, true),
        (false, ["LANG": "de_DE.utf8"], true, false),
        (true, ["LANG": "C.UTF-8", "NO_COLOR": "1"], true, false),
        (true, ["LANG": "C.UTF-8", "NO_COLOR": ""], true, true),
        (true, ["LANG": "C.UTF-8", "TERM": "dumb"], true, false),
        (true, ["LANG": "C.UTF-8", "LC_ALL": "C"], false, true),
        (true, ["LANG": "C", "LC_CTYPE": "en_US.UTF-8"], true, true),
        (true, [:], false, true),
    ])
    func `Reads the environment`(
        isTerminal: Bool,
        environment: [String: String],
        unicode: Bool,
        colour: Bool
    ) {
        let style = TerminalStyle(isTerminal: isTerminal) { environment[$0] }
        #expect(style == TerminalStyle(unicode: unicode, colour: colour))
    }
}
