// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy
import Testing

/// Each type of the API survives a round trip, and answers of other versions can be read.
@Suite struct APITypeTests {
    /// What a value is after it was written and read.
    private func again<Value: Codable>(_ value: Value) throws -> Value {
        try APICoder.value(from: APICoder.json(value))
    }

    private func text<Value: Codable>(_ type: Value.Type, _ json: String) throws -> Value {
        try APICoder.value(type, from: Array(json.utf8))
    }

    // MARK: - Round trips

    @Test(arguments: APISamples.runs)
    func `A run survives`(run: RunRecord) throws {
        let object = API.Run(run)
        #expect(try again(object) == object)
        #expect(try again(object).record == run)
    }

    @Test(arguments: APISamples.requests)
    func `A request survives`(request: PendingRequest) throws {
        #expect(try again(API.Request(request)).request == request)
    }

    @Test func `The status survives`() throws {
        for status in APISamples.statuses {
            #expect(try again(API.Status(status)).status == status)
        }
    }

    @Test func `An explanation survives`() throws {
        for explanation in APISamples.explanations {
            #expect(try again(API.Why(explanation)).explanation == explanation)
        }
    }

    @Test func `The other answers survive`() throws {
        try expectSame(APISamples.deadLetter) { API.DeadLetter($0) }
        try expectSame(APISamples.deadLetterChange)
        try expectSame(APISamples.throttle)
        try expectSame(PluginSwitch(plugin: "p", off: "", stopping: [RunID(high: 1, low: 2)]))
        try expectSame(PluginSwitch(plugin: "p", off: nil))
        try expectSame(APISamples.use)
        try expectSame(APISamples.alerts)
        try expectSame(AlertReport())
        try expectSame(API.AlertTests(receivers: [APISamples.alertTest]))
        try expectSame(
            ReloadReport(
                tasks: .init(added: ["a"], removed: ["b"]),
                host: ["slots"],
                parked: 1,
                changes: [
                    .init(kind: "host", name: "", key: "slots", after: "3"),
                    .init(kind: "plugin", name: "p", reason: "its library has changed"),
                ],
                dryRun: true
            )
        )
        try expectSame(APISamples.simulation)
        try expectSame(APISamples.notification)
        try expectSame(APISamples.answer)
        try expectSame(APISamples.transfer)
        try expectSame(API.Version(version: "0.2.0", pid: 1))
        try expectSame(API.Alive(alive: true))
        try expectSame(ReadinessReport(reasons: [.init("store", since: 1_000_000, "full")]))
        try expectSame(
            HealthReport(checks: [.init("disk", .warning, since: 0, "full", remedy: "make room")])
        )
        try expectSame(API.Backup(folder: "/f", bytes: .max, omitted: 2))
        try expectSame(
            API.CancelledRun(run: RunID(high: 1, low: 2), task: "t", graceSeconds: .seconds(5))
        )
        try expectSame(
            API.StoppedRuns(runs: [
                API.CancelledRun(run: RunID(high: 1, low: 2), task: "t", graceSeconds: .seconds(5))
            ])
        )
        try expectSame(API.ClearedThrottle(task: "t", points: 2))
        try expectSame(APISamples.fleet) { API.Fleet($0) }
        try expectSame(APISamples.fleetDrain(true)) { API.FleetDrainAnswer($0) }
        try expectSame(API.FleetRequests(requests: APISamples.fleetRequests, next: "x"))
        try expectSame(APISamples.fleetCancellation)
        try expectSame(API.Replay(decisions: 3, same: true))
    }

    private func expectSame(_ value: some Codable & Equatable) throws {
        #expect(try again(value) == value)
    }

    private func expectSame<Record, Object: Codable & Equatable>(
        _ record: Record,
        _ object: (Record) -> Object
    ) throws {
        try expectSame(object(record))
    }

    @Test func `The streamed answer is that of the encoder`() throws {
        for request in APISamples.requests {
            let answer = API.RequestAnswer(request: API.Request(request))
            // Without a schema the encoder writes it.
            let members = APICoder.text(answer).dropLast()
            #expect(
                APICoder.text(Schema.request, answer)
                    == members + #","schema":"bghost.request/1"}"#
            )
        }
    }

    @Test func `A streamed line is that of the encoder`() throws {
        for line in APISamples.logLines {
            let object = API.LogLine(line)
            // In a list the encoder writes it.
            #expect(APICoder.text([object]) == "[\(APICoder.text(object))]")
            #expect(try again(object).entry == line)
        }
    }

    // MARK: - Other versions

    @Test func `Nulls stay and absent keys stay absent`() throws {
        let run = try JSONReader.parse(APICoder.json(API.Run(APISamples.bareRun)))
        for key in ["outcome", "result", "progress", "startedAt", "pid", "crash", "cpuSeconds"] {
            #expect(run[key]?.isNull == true, "\(key)")
        }
        #expect(run["output"] == nil)
        let request = try JSONReader.parse(
            APICoder.json(API.Request(APISamples.plainRequest))
        )
        #expect(request["earliestBegin"]?.isNull == true)
        for key in ["kept", "toleranceSeconds", "certain", "earliestStart", "submitterRun"] {
            #expect(request[key] == nil, "\(key)")
        }
        let fault = try JSONReader.parse(APICoder.json(API.Failure(ControlFault(.stopping, "m"))))
        #expect(fault["error"]?["candidates"] == nil)
    }

    @Test func `An older daemon is understood`() throws {
        let run = try text(
            API.Run.self,
            """
            {"id":"\(RunID(high: 1, low: 2))","request":"\(RunID(high: 1, low: 3))","task":"t",
            "plugin":"p","state":"running","submittedAt":"2026-11-21T16:31:00Z",
            "limitSeconds":25,"graceSeconds":5}
            """
        ).record
        #expect(run.attempt == 1)
        #expect(run.kind == nil)
        #expect(run.usage == RunUsage())
        let request = try text(
            API.Request.self,
            """
            {"id":"\(RunID(high: 1, low: 2))","task":"t","submittedAt":"2026-11-21T16:31:00Z"}
            """
        ).request
        #expect(request.priority == 500)
        #expect(request.parameters == "{}")
        #expect(request.submitter == .operator)
        #expect(request.outlook == nil)
        let status = try text(
            API.Status.self,
            """
            {"daemon":{"version":"0.1.0","pid":1,"startedAt":"2026-11-21T16:31:00Z"},
            "tasks":[],"plugins":[]}
            """
        ).status
        #expect(status.store == StoreStatus())
        #expect(!status.simulation.isActive)
    }

    @Test func `A newer daemon is understood`() throws {
        var object = try JSONReader.parse(APICoder.json(API.Run(APISamples.fullRun)))
        object = object.with("invented", JSONNode(.object([])))
        object = object.with("outcome", JSONNode(.string("evaporated")))
        object = object.with("kind", JSONNode(.string("cosmic")))
        object = object.with("crash", JSONNode(.string("see the log")))
        let run = try text(API.Run.self, object.text).record
        var expected = APISamples.fullRun
        expected.outcome = nil
        expected.kind = nil
        expected.details = RunDetails(
            error: APISamples.fullRun.details?.error,
            output: APISamples.fullRun.details?.output ?? "",
            checkpoint: APISamples.fullRun.details?.checkpoint
        )
        #expect(run == expected)
    }

    @Test func `Unknown values of a newer daemon are skipped in lists`() throws {
        let known = try JSONReader.parse(APICoder.json(API.Run(APISamples.fullRun)))
        let unknown = known.with("state", JSONNode(.string("dreaming")))
        let list = try text(
            API.RunList.self,
            #"{"schema":"bghost.runs/9","runs":[\#(unknown.text),null,7,\#(known.text)]}"#
        )
        #expect(list.runs.map(\.record) == [APISamples.fullRun])

        let why = try JSONReader.parse(APICoder.json(API.Why(APISamples.explanations[0])))
        let text = why.text.replacing("\"gate\":\"slot\"", with: "\"gate\":\"astrology\"")
        let read = try self.text(API.Why.self, text).explanation
        #expect(read.requests.first?.gates.map(\.kind) == [.requirement])
    }

    @Test(arguments: ["{}", "[]", "null", "7", #"{"tasks":{}}"#])
    func `Other answers are refused`(json: String) {
        #expect(throws: DecodingError.self) { try text(API.Status.self, json) }
        #expect(throws: DecodingError.self) { try text(API.RunList.self, json) }
        #expect(throws: DecodingError.self) { try text(TransferView.self, json) }
    }

    // MARK: - JSON in JSON

    @Test(arguments: [
        #"{"z":1.0,"a":1e400,"n":18446744073709551615,"m":-9223372036854775808}"#,
        #"{"pi":3.14159265358979323846264338327950288419716939937510}"#,
        "{\"e\u{301}\":1,\"\u{E9}\":2}", #"{"s":"\u0000\"/"}"#, "[]", "{}", "96.50", #""text""#,
    ])
    func `JSON stays as it is`(json: String) throws {
        var run = APISamples.fullRun
        run.result = json
        let bytes = APICoder.json(API.Run(run))
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"result\":\(json),"))
        #expect(try APICoder.value(API.Run.self, from: bytes).record.result == json)
        let list = API.RunList(runs: [API.Run(run), API.Run(APISamples.bareRun), API.Run(run)])
        #expect(try again(list) == list)
    }

    /// The deepest parameters and results that are accepted, and some below.
    @Test(arguments: 59...JSONReader.depthMax)
    func `Deep parameters and results are readable`(depth: Int) throws {
        let deep = APISamples.json(depth: depth)
        var request = APISamples.fullRequest
        request.parameters = deep
        var run = APISamples.fullRun
        run.result = deep
        var letter = APISamples.deadLetter
        letter.request.parameters = deep

        var status = APISamples.statuses[1]
        status.tasks[0].pending = request
        status.tasks[0].last = run
        #expect(try again(API.Status(status)).status == status)
        #expect(try again(API.RunList(runs: [API.Run(run)])).runs.map(\.record) == [run])
        var explanation = APISamples.explanations[0]
        explanation.requests[0].request = request
        explanation.last = run
        explanation.dead = letter
        #expect(try again(API.Why(explanation)).explanation == explanation)
    }

    @Test func `Deep JSON is refused`() throws {
        var tooDeep = APISamples.fullRun
        tooDeep.result = APISamples.json(depth: JSONReader.depthMax + 1)
        #expect(try again(API.Run(tooDeep)).result == nil)
        let deep = String(repeating: "[", count: 100_000)
        var run = APISamples.fullRun
        run.result = deep
        #expect(try JSONReader.parse(APICoder.json(API.Run(run)))["result"]?.isNull == true)
        let body = Array((#"{"task":"t","parameters":{"a":"# + deep).utf8)
        let fault = #expect(throws: ControlFault.self) { try API.SubmitBody.read(body) }
        #expect(fault?.message.contains("nested deeper than 64 levels") == true)
    }

    @Test(arguments: [
        (#"{"task":null}"#, "`task` must not be null"),
        (#"{"task":"a","parameters":null}"#, "`parameters` must not be null"),
        (#"{"task":"a","parameters":"{}"}"#, "`parameters` must not be a string"),
        (#"{"task":"a","ignoresRequirements":null}"#, "must not be null"),
        (#"{"task":"a","priority":1.5}"#, "`priority` is not a whole number from 0 to 1000"),
        (#"{"task":"a","priority":1e999}"#, "`priority` is not a whole number from 0 to 1000"),
        (#"{"task":"a","Task":"b"}"#, "`Task` is not a key of a request"),
        ("[1]", "the body is an array where an object is needed"),
        ("{}", "`task` is missing"),
    ])
    func `A body is read strictly`(body: String, message: String) {
        let fault = #expect(throws: ControlFault.self) {
            try API.SubmitBody.read(Array(body.utf8)).submission(path: nil)
        }
        #expect(fault?.message.contains(message) == true, "\(String(describing: fault))")
    }

    @Test func `A body may have nulls for its defaults`() throws {
        let body = """
            {"task":"a","earliestBegin":null,"latestBegin":null,"toleranceSeconds":null,
            "onConflict":null,"priority":1e2}
            """
        let submission = try API.SubmitBody.read(Array(body.utf8)).submission(path: "a")
        #expect(submission == Submission(task: "a", priority: 100))
        #expect(try API.SubmitBody.read([]).submission(path: "b") == Submission(task: "b"))
    }
}

extension JSONNode {
    /// The object with a value in place of that of a key, or with a new key.
    fileprivate func with(_ key: String, _ value: JSONNode) -> JSONNode {
        var members = (object ?? []).filter { $0.key != key }
        members.append(JSONMember(key: key, value: value))
        return JSONNode(.object(members))
    }
}
