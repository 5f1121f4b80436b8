// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import Testing

@Suite struct RecordTests {
    private let full = RunRecord(
        id: RunID(high: 1, low: 2),
        request: RunID(high: 3, low: 4),
        task: "com.acme.storm",
        plugin: "storm",
        attempt: 2,
        epoch: 1 << 32 | 7,
        state: .ended,
        outcome: .killed(.graceExceeded),
        stopReason: .expired,
        message: "line \"1\"\n\u{1B}[2J",
        result: #"{"codes":[95,96.50]}"#,
        progress: RunProgress(done: 3, total: 4, phase: "upload"),
        limits: RunLimits(runtime: .seconds(25), grace: .milliseconds(500)),
        pid: 4711,
        submittedAt: 1_795_278_660_000_000_000,
        startedAt: 1_795_278_661_000_000_000,
        endedAt: 1_795_278_664_250_000_000,
        duration: .milliseconds(3250),
        usage: RunUsage(cpu: .microseconds(1200), peakMemoryBytes: 8 << 20, outputBytes: 42),
        kind: .refresh,
        origin: RunOrigin(version: "1.2", library: "ab", manifest: "cd"),
        details: RunDetails(
            crash: CrashReport(
                line: "Fatal error: no",
                place: "libstorm.so+0x10 (rain+0x2)",
                address: "0x0",
                stacks: [CrashReport.ThreadStack(thread: "main 7", frames: ["a", "b"])]
            ),
            error: RunError(type: "Storm.RainError", file: "Storm/Rain.swift", line: 7),
            output: "one\n"
        )
    )

    @Test func `The contract of a run`() {
        #expect(
            APICoder.text(API.Run(full)) == """
                {"attempt":2,"cpuSeconds":0.0012,\
                "crash":{"address":"0x0","line":"Fatal error: no",\
                "place":"libstorm.so+0x10 (rain+0x2)",\
                "stacks":[{"frames":["a","b"],"thread":"main 7"}]},\
                "durationSeconds":3.25,"endedAt":"2026-11-21T16:31:04.250Z",\
                "epoch":4294967303,"error":{"file":"Storm/Rain.swift","line":7,\
                "type":"Storm.RainError"},"graceSeconds":0.5,"id":"\(full.id)","kind":"refresh",\
                "librarySHA256":"ab","limitSeconds":25,"manifestSHA256":"cd",\
                "message":"line \\"1\\"\\n\\u001b[2J","outcome":"killed(graceExceeded)",\
                "output":"one\\n","outputBytes":42,"peakMemoryBytes":8388608,"pid":4711,\
                "plugin":"storm","pluginVersion":"1.2",\
                "progress":{"done":3,"phase":"upload","total":4},"request":"\(full.request)",\
                "result":{"codes":[95,96.50]},"startedAt":"2026-11-21T16:31:01.000Z",\
                "state":"ended","stopReason":"expired","submittedAt":"2026-11-21T16:31:00.000Z",\
                "task":"com.acme.storm"}
                """
        )
    }

    @Test func `A run survives`() throws {
        let bare = RunRecord(
            id: RunID(high: 1, low: 2),
            request: RunID(high: 3, low: 4),
            task: "t",
            plugin: "p",
            limits: RunLimits(kind: .processing),
            submittedAt: 0
        )
        for run in [full, bare] {
            let read: API.Run = try APICoder.value(from: APICoder.json(API.Run(run)))
            #expect(read.record == run)
        }
    }

    @Test(arguments: ["no JSON", "{\"a\":1,\"a\":2}", "{", "\u{1B}"])
    func `A result that is no JSON is null`(result: String) throws {
        var run = full
        run.result = result
        let json = try JSONReader.parse(APICoder.json(API.Run(run)))
        #expect(json["result"]?.isNull == true)
    }

    @Test func `A line of the log survives`() throws {
        for level in LogEntry.Level.allCases {
            let entry = LogEntry(
                sequence: .max,
                time: 1_795_278_660_123_000_000,
                level: level,
                source: .stderr,
                event: "run.ended",
                message: "ü",
                task: "t",
                plugin: "p",
                run: RunID(high: 1, low: 2)
            )
            let bytes = APICoder.json(API.LogLine(entry))
            #expect(try APICoder.value(API.LogLine.self, from: bytes).entry == entry)
            #expect(try JSONReader.parse(bytes)["schema"]?.string == "bghost.log/1")
        }
    }

    @Test(arguments: FaultCode.allCases)
    func `A fault survives`(code: FaultCode) throws {
        let fault = ControlFault(code, "what", fix: "do", candidates: ["a", "b"])
        let bytes = APICoder.json(API.Failure(fault))
        #expect(ControlFault(answer: bytes, parsed: try JSONReader.parse(bytes)) == fault)
        #expect(!code.explanation.isEmpty)
    }

    @Test(arguments: ["{}", "[]", "null", #"{"id":7}"#, #"{"id":"01","request":"01"}"#])
    func `Incomplete runs are refused`(text: String) throws {
        #expect(throws: DecodingError.self) {
            try APICoder.value(API.Run.self, from: Array(text.utf8))
        }
    }

    @Test func `Versions of one series understand each other`() {
        #expect(BghostVersion.series(of: "0.1.0") == BghostVersion.series(of: "0.1.9"))
        #expect(BghostVersion.series(of: "0.1.0") != BghostVersion.series(of: "0.2.0"))
        #expect(BghostVersion.series(of: "1.0.0") == BghostVersion.series(of: "1.9.3"))
        #expect(BghostVersion.series(of: "1.0.0") != BghostVersion.series(of: "2.0.0"))
    }
}
