// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostCalendar
import BghostControl
@testable import BghostModel
import BghostTestSupport
import Testing

/// The coming starts, through the API.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct PlanRouteTests {
    private func get(_ path: String, _ serving: Serving) async throws -> String {
        try await onThread {
            let connection = try RawConnection(serving.socketPath)
            connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.receiveAnswer()
        }
    }

    @Test func `The question arrives whole, and has bounds`() async throws {
        let host = try await TestHost.start { manifest in
            for index in 0..<2 {
                manifest.tasks[index].schedule = TaskSchedule(
                    times: .calendar(
                        try CalendarExpression("0 * * * *"),
                        zone: .utc,
                        gap: .shift,
                        fold: .first
                    )
                )
            }
        }
        try await Serving.with(host) { serving in
            func starts(_ answer: String) throws -> [JSONNode] {
                let body = try #require(answer.firstRange(of: "\r\n\r\n")).upperBound
                return try #require(try JSONReader.parse(String(answer[body...]))["starts"]?.array)
            }
            let answer = try await get(
                "/v1/plan?task=com.acme.storm&hours=24&each=5&limit=7",
                serving
            )
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains(#""schema":"bghost.plan/1""#), "\(answer)")
            let usual = try await get("/v1/plan", serving)
            #expect(usual.hasPrefix("HTTP/1.1 200 "))
            let five = try starts(answer)
            #expect(five.count == 5)
            #expect(five.allSatisfy { $0["task"]?.string == "com.acme.storm" })
            #expect(try starts(usual).count == 2 * 168)
            for (query, count) in [("hours=2", 4), ("each=3", 6), ("limit=7", 7)] {
                let some = try await get("/v1/plan?\(query)", serving)
                #expect(try starts(some).count == count, "\(query)")
            }
            for query in ["hours=0", "hours=8785", "hours=week", "each=0", "limit=5001", "days=7"] {
                let refused = try await get("/v1/plan?\(query)", serving)
                #expect(refused.hasPrefix("HTTP/1.1 400 "), "\(query): \(refused)")
            }
            let unknown = try await get("/v1/plan?task=com.acme.strom", serving)
            #expect(unknown.hasPrefix("HTTP/1.1 404 ") && unknown.contains("BG4013"))
        }
    }

    @Test func `The command says which start a change of the clock skips`() async throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {"p": {"library": "./p.so"}}, "tasks": {
              "org.example.night": {"plugin": "p", "handler": "h", "calendar": "30 2 * * *",
                                    "timeZone": "Europe/Berlin", "gap": "skip"}}}
            """,
            to: "tasks.json"
        )
        let command = [
            "plan", "--config", manifest, "--from", "2026-03-28T12:00:00Z",
            "--to", "2026-03-29T12:00:00Z",
        ]
        let text = try await Bghost.run(command)
        #expect(text.exitCode == 0, "\(text)")
        #expect(
            text.output.contains(
                "clocks of Europe/Berlin go forward, to 2026-03-29 03:00:00 +02:00"
                    + "; skips a start of org.example.night"
            ),
            "\(text)"
        )
        let json = try JSONReader.parse(try await Bghost.run(command + ["--json"]).output)
        #expect(json["starts"]?.array?.isEmpty == true)
        #expect(json["until"]?.string?.hasPrefix("2026-03-29T12:00:00") == true)
        let change = try #require(json["clockChanges"]?.array?.first)
        #expect(change["skipped"]?.array?.first?.string == "org.example.night")
    }

    @Test func `A plan that is cut off has all starts until the time that it says`() async throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {"p": {"library": "./p.so"}}, "tasks": {
              "a": {"plugin": "p", "handler": "h", "calendar": "0 3 * * *"},
              "b": {"plugin": "p", "handler": "h", "calendar": "0 3 * * *"}}}
            """,
            to: "tasks.json"
        )
        let text = try await Bghost.run([
            "plan", "--config", manifest, "--from", "2026-03-28T00:00:00Z", "--limit", "1",
            "--json",
        ])
        let json = try JSONReader.parse(text.output)
        let starts = try #require(json["starts"]?.array)
        #expect(starts.count == 1 && json["hasMore"]?.bool == true, "\(text)")
        let start = try #require(starts[0]["start"]?.string)
        let until = try #require(json["until"]?.string)
        // The other task starts at the same time.
        #expect(until < start, "\(until)")
    }

    @Test func `A plan survives`() throws {
        let text = APICoder.text(Schema.plan, APISamples.plan)
        let read: API.Plan = try APICoder.value(
            from: Array(text.utf8),
            parsed: try JSONReader.parse(text)
        )
        #expect(read == APISamples.plan)
    }
}
