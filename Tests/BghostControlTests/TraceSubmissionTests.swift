// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Traces of clients: headers, fields, options and variables.
@Suite(.timeLimit(.minutes(5))) struct TraceSubmissionTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let other = "00-11111111111111111111111111111111-2222222222222222-01"

    /// The trace with which a request arrives.
    private func trace(_ body: String, _ fields: String) async throws -> TraceContext? {
        let host = try await TestHost.start()
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                return connection.receive(until: "}\n")
            }
            #expect(answer.hasPrefix("HTTP/1.1 202 "), "\(answer)")
        }
        return try #require(try host.stored().first).trace
    }

    @Test func `A submission takes the trace of its headers`() async throws {
        let fields = "traceparent: \(Self.parent)\r\nTraceState: a=1\r\ntracestate: b=2\r\n"
        let trace = try await trace(#"{"task":"com.acme.storm"}"#, fields)
        #expect(trace?.traceparent == Self.parent && trace?.state == "a=1,b=2")
    }

    @Test func `A field goes before a header`() async throws {
        let body = #"{"task":"com.acme.storm","traceparent":"\#(Self.other)"}"#
        let trace = try await trace(body, "traceparent: \(Self.parent)\r\n")
        #expect(trace?.traceparent == Self.other && trace?.state == "")
    }

    @Test(arguments: [
        "traceparent: x\r\n", "traceparent: \(parent)\r\ntraceparent: \(parent)\r\n",
        "tracestate: a=1\r\n", "traceparent:\r\n",
    ])
    func `Faulty headers count as none`(fields: String) async throws {
        #expect(try await trace(#"{"task":"com.acme.storm"}"#, fields) == nil)
    }

    @Test(arguments: [
        (#"{"task":"a","traceparent":"00-x"}"#, "`traceparent` is not as W3C Trace Context has it"),
        (#"{"task":"a","traceparent":7}"#, "traceparent"),
        (#"{"task":"a","tracestate":"a=1"}"#, "`tracestate` needs `traceparent`"),
        (#"{"task":"a","traceparent":"\#(parent)","tracestate":"A"}"#, "tracestate has no `=`"),
    ])
    func `A faulty field is refused`(body: String, part: String) {
        let fault = #expect(throws: ControlFault.self) {
            try API.SubmitBody.read(Array(body.utf8)).submission(path: nil)
        }
        #expect(fault?.code == .badRequest)
        #expect(fault?.message.contains(part) == true, "\(String(describing: fault))")
    }

    @Test func `A trace arrives whole`() throws {
        for state in ["", "a=1"] {
            let trace = try TraceContext(traceparent: Self.parent, tracestate: state)
            let submission = Submission(task: "a", trace: trace)
            let body = APICoder.json(API.SubmitBody(submission))
            #expect(try API.SubmitBody.read(body).submission(path: nil) == submission)
        }
    }

    @Test func `The program takes the option, then the variable, and says what it ignores`()
        async throws
    {
        try await Serving.with { serving in
            let host = serving.host
            await host.holdPlugin()
            func submit(
                _ options: [String],
                _ environment: [String]
            ) async throws -> Command.Result {
                try await Bghost.run(
                    ["submit", "com.acme.storm", "--control", serving.socketPath] + options,
                    environment: environment
                )
            }
            let variables = ["TRACEPARENT=\(Self.parent)", "TRACESTATE=a=1"]
            func trace() throws -> TraceContext? { try #require(try host.stored().first).trace }
            #expect(try await submit([], variables).exitCode == 0)
            #expect(try trace()?.traceparent == Self.parent && trace()?.state == "a=1")
            #expect(
                try await submit(["--traceparent", Self.other], ["TRACEPARENT=x"]).exitCode == 0
            )
            #expect(try trace()?.traceparent == Self.other && trace()?.state == "")
            let ignored = try await submit([], ["TRACEPARENT=x"])
            #expect(ignored.exitCode == 0 && ignored.error.contains("TRACEPARENT is ignored: "))
            #expect(try trace() == nil)
            let refused = try await submit(["--traceparent", "x"], [])
            #expect(refused.exitCode == 64 && refused.error.contains("--traceparent: "))
        }
    }

    @Test func `A reload shows no value of the section, whose headers may be secret`() {
        #expect(ReloadReport.Change.maySecret("traces"))
        #expect(ReloadReport.Change.maySecret("traces.headers.Authorization"))
    }
}
