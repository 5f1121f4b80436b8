// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import StormyStation
import Testing

@Suite struct RunsReportTests {
    @Test func `Reads what it needs oldest first`() throws {
        let json = """
            {"schema":"bghost.runs/1","runs":[
            {"id":"01B","request":"01R","task":"t","plugin":"p","state":"running","outcome":null,
            "durationSeconds":null,"limitSeconds":10,"graceSeconds":2.5,"peakMemoryBytes":4096},
            {"id":"01A","task":"t","state":"ended","outcome":"failed","message":"m",
            "stopReason":"expired","startedAt":"2026-11-21T14:25:28.000Z",
            "endedAt":"2026-11-21T14:25:30.000Z",
            "durationSeconds":0.25,"result":{"x":1},"unheard":[]}]}
            """
        let runs = try RunsReport.read(Data(json.utf8))
        #expect(runs.map(\.id) == ["01A", "01B"])
        #expect(runs[0].outcome == "failed")
        #expect(runs[0].message == "m")
        #expect(runs[0].stopReason == "expired")
        #expect(runs[0].endedAt == "2026-11-21T14:25:30.000Z")
        #expect(runs[0].durationSeconds == 0.25)
        #expect(runs[1].outcome == nil)
        #expect(runs[1].graceSeconds == 2.5)
        #expect(runs[1].peakMemoryBytes == 4096)
    }

    @Test(arguments: [
        ("", "it is not JSON"),
        ("null", "is"),
        ("[]", "of another type"),
        ("{}", "schema is missing"),
        (#"{"schema":"bghost.runs/1"}"#, "runs is missing"),
        (#"{"schema":"bghost.runs/2","runs":[]}"#, "schema is bghost.runs/2, not bghost.runs/1"),
        (#"{"schema":"bghost.runs/1","runs":[{"id":"x"}]}"#, "runs.0.task is missing"),
        (
            #"{"schema":"bghost.runs/1","runs":[{"id":"x","task":3,"state":"ended"}]}"#,
            "runs.0.task is of another type"
        ),
    ])
    func `Says what is wrong`(json: String, reason: String) {
        let error = #expect(throws: RunsReport.Unreadable.self) {
            try RunsReport.read(Data(json.utf8))
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
}
