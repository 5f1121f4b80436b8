// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostServices
import BghostTestSupport
import BghostTraces
import BghostTransfer
import Testing

/// Spans to real servers; only the time is the tests'.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct TraceExporterTests {
    private static let second: UInt64 = 1_000_000_000

    /// An exporter with a clock that the test moves.
    private final class Setup: Sendable {
        let clock = ManualClock()
        let log = HostLog(level: .trace)
        let fetcher = HTTPFetcher(reachesLocalNames: true)
        let exporter: TraceExporter

        init(_ url: String?, adjust: (inout TraceExporter.Limits) -> Void = { _ in }) {
            var limits = TraceExporter.Limits()
            // Only the test's clock ends a request that hangs.
            limits.timeout = .seconds(3600)
            adjust(&limits)
            exporter = TraceExporter(
                fetcher: fetcher,
                log: log,
                version: "1.2",
                limits: limits,
                clock: clock
            )
            exporter.apply(
                url.map {
                    TraceSettings(
                        endpoint: $0 + "/v1/traces",
                        headers: [AlertHeader(name: "X-Token", value: "s3cret")]
                    )
                }
            )
        }

        func record(_ names: some Sequence<Int>) {
            for name in names { exporter.record(.sample(named: "\(name)")) }
        }

        func count(_ event: String) -> Int {
            log.entries(matching: LogFilter(), limit: 100).count { $0.event == event }
        }

        func end() async {
            await exporter.shutDown()
            await fetcher.shutDown()
        }
    }

    private func withServer(
        adjust: (inout TraceExporter.Limits) -> Void = { _ in },
        _ body: (HTTPReceiver, Setup) async throws -> Void
    ) async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        let setup = Setup(server.url, adjust: adjust)
        do {
            try await body(server, setup)
        } catch {
            await setup.end()
            throw error
        }
        await setup.end()
    }

    /// The names of the spans of each request.
    private func batches(_ server: HTTPReceiver) throws -> [[String]] {
        try server.requests.map { request in
            let node = try JSONReader.parse(request.body)
            let spans = node["resourceSpans"]?.array?[0]["scopeSpans"]?.array?[0]["spans"]?.array
            return try #require(spans).compactMap { $0["name"]?.string }
        }
    }

    @Test func `spans of five seconds go in one request`() async throws {
        try await withServer { server, setup in
            setup.record(1...3)
            #expect(setup.exporter.isOn && setup.exporter.counts.queued == 3)
            #expect(try await setup.clock.endNextSleep() == 5 * Self.second)
            #expect(server.has(1))
            await setup.exporter.shutDown()
            let request = try #require(server.requests.first)
            #expect(request.method == "POST" && request.target == "/v1/traces")
            #expect(request.headers["content-type"] == "application/json")
            #expect(request.headers["x-token"] == "s3cret")
            let sent = try batches(server)
            #expect(sent == [["1", "2", "3"]])
            #expect(setup.exporter.counts.exported == 3 && server.requests.count == 1)
        }
    }

    @Test func `a full batch does not wait`() async throws {
        try await withServer(adjust: { $0.batchMax = 4 }) { server, setup in
            setup.record(1...4)
            #expect(server.has(1))
            let sent = try batches(server)
            #expect(sent == [["1", "2", "3", "4"]])
        }
    }

    @Test func `a batch comes again when the receiver asks for it`() async throws {
        try await withServer { server, setup in
            server.answer([503, 429, 200], headers: ["Retry-After: 7"])
            setup.record(1...2)
            try await setup.clock.endNextSleep()
            #expect(try await setup.clock.endNextSleep() == 7 * Self.second)
            #expect(try await setup.clock.endNextSleep() == 7 * Self.second)
            #expect(server.has(3))
            await setup.exporter.shutDown()
            let sent = try batches(server)
            #expect(sent == [["1", "2"], ["1", "2"], ["1", "2"]])
            #expect(setup.exporter.counts.exported == 2 && setup.exporter.counts.failed == 0)
            #expect(setup.count("traces.failed") == 1 && setup.count("traces.recovered") == 1)
        }
    }

    @Test func `a refused batch is dropped, and the log says so once`() async throws {
        try await withServer(adjust: { $0.batchMax = 2 }) { server, setup in
            server.answer([400, 401, 200])
            for last in [2, 4, 6] {
                setup.record((last - 1)...last)
                #expect(server.has(last / 2))
            }
            await setup.exporter.shutDown()
            #expect(setup.exporter.counts.failed == 4 && setup.exporter.counts.exported == 2)
            #expect(setup.count("traces.dropped") == 1 && setup.count("traces.recovered") == 1)
        }
    }

    @Test func `spans that the receiver rejects are counted`() async throws {
        try await withServer(adjust: { $0.batchMax = 3 }) { server, setup in
            server.answer(
                [200],
                body: #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}"#
            )
            setup.record(1...3)
            #expect(server.has(1))
            await setup.exporter.shutDown()
            #expect(setup.exporter.counts.failed == 2 && setup.exporter.counts.exported == 1)
            #expect(setup.count("traces.dropped") == 1)
        }
    }

    @Test func `a receiver that hangs fills the queue, and a shutdown ends it`() async throws {
        try await withServer(adjust: { ($0.batchMax, $0.queueMax) = (2, 4) }) { server, setup in
            server.hold()
            setup.record(1...2)
            #expect(server.has(1))
            setup.record(3...9)
            let counts = setup.exporter.counts
            #expect(counts.overflowed == 3 && counts.queued == 4)
            #expect(setup.count("traces.dropped") == 1)
            let clock = setup.clock
            async let end: Void = setup.exporter.shutDown()
            // The sleeps before are those for more spans.
            while try await clock.nextSleep() != 2 * Self.second {}
            clock.advance(by: 2 * Self.second)
            await end
            #expect(setup.exporter.counts.failed == 6 && setup.exporter.counts.queued == 0)
            #expect(setup.count("traces.ended") == 1)
        }
    }

    @Test func `a receiver that is not there gets the spans later`() async throws {
        let server = try HTTPReceiver(refuses: true)
        defer { withExtendedLifetime(server) {} }
        let setup = Setup(server.url)
        setup.record(1...2)
        try await setup.clock.endNextSleep()
        let delay = try await setup.clock.nextSleep()
        #expect((Self.second / 2...Self.second).contains(delay))
        _ = try await setup.log.line { $0.event == "traces.failed" }
        // A reload names another receiver: the next attempt goes there at once.
        let other = try HTTPReceiver()
        other.start()
        defer { other.stop() }
        setup.exporter.apply(TraceSettings(endpoint: other.url + "/t"))
        #expect(other.has(1))
        await setup.end()
        let sent = try batches(other)
        #expect(sent == [["1", "2"]])
        #expect(setup.exporter.counts.exported == 2)
    }

    @Test func `a batch is given up when its time is over`() async throws {
        try await withServer(adjust: { ($0.batchMax, $0.backoff.limit) = (2, 0) }) {
            server,
            setup in
            server.answer([503])
            setup.record(1...2)
            _ = try await setup.log.line { $0.event == "traces.dropped" }
            #expect(setup.exporter.counts.failed == 2 && server.requests.count == 1)
        }
    }

    @Test func `a redirect to another server is not followed`() async throws {
        let other = try HTTPReceiver()
        other.start()
        defer { other.stop() }
        try await withServer(adjust: { $0.batchMax = 1 }) { server, setup in
            server.answer([307], headers: ["Location: \(other.url)/v1/traces"])
            setup.record([1])
            #expect(server.has(1))
            await setup.exporter.shutDown()
            #expect(setup.exporter.counts.failed == 1 && other.requests.isEmpty)
        }
    }

    @Test func `a redirect that would lose the spans is a failure`() async throws {
        try await withServer(adjust: { ($0.batchMax, $0.backoff.limit) = (1, 0) }) {
            server,
            setup in
            server.answer([302], headers: ["Location: \(server.url)/login"])
            setup.record([1])
            #expect(server.has(1))
            await setup.exporter.shutDown()
            #expect(setup.exporter.counts.failed == 1 && server.requests.count == 1)
        }
    }

    @Test func `without a receiver nothing is kept`() async throws {
        let setup = Setup(nil)
        setup.record(1...3)
        #expect(!setup.exporter.isOn && setup.exporter.counts == SpanCounts())
        await setup.end()
    }

    @Test func `switching it off drops what waits`() async throws {
        try await withServer { server, setup in
            setup.record(1...3)
            _ = try await setup.clock.nextSleep()
            setup.exporter.apply(nil)
            await setup.exporter.shutDown()
            #expect(setup.exporter.counts.failed == 3 && server.requests.isEmpty)
        }
    }

    @Test func `the share of the traces depends on the id alone`() async throws {
        let setup = Setup(nil)
        func sampled(_ sample: Int) -> [Bool] {
            setup.exporter.apply(TraceSettings(endpoint: "http://127.0.0.1:9/", sample: sample))
            return (0..<10_000).map { setup.exporter.samples(traceLow: UInt64($0)) }
        }
        #expect(!sampled(0).contains(true))
        #expect(!sampled(10_000).contains(false))
        let tenth = sampled(1000)
        #expect((900...1100).contains(tenth.count { $0 }))
        #expect(tenth == sampled(1000))
        await setup.end()
    }
}

extension HostLog {
    /// Waits until the log has a line.
    fileprivate func line(where isWanted: (LogEntry) -> Bool) async throws -> LogEntry {
        for await entry in follow(matching: LogFilter(), limit: 100).lines where isWanted(entry) {
            return entry
        }
        throw CancellationError()
    }
}
