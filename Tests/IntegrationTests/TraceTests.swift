// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
@testable import BghostPolicy
import BghostServices
import BghostStore
import BghostTestSupport
import BghostTraces
import BghostTransfer
import Glibc
import Testing

extension Integration {
    /// Traces from a submission to the handler, its HTTP requests and the receiver of spans.
    @Suite(.timeLimit(.minutes(5))) struct TraceTests {
        private static let trace = "0af7651916cd43dd8448eb211c80319c"
        private static let parent = "00-\(trace)-b7ad6b7169203331-01"

        private static func context(_ text: String = parent) throws -> TraceContext {
            try TraceContext(traceparent: text, tracestate: "a=1")
        }

        private func manifest(_ ports: [UInt16] = []) throws -> Manifest {
            var manifest = Manifest(
                plugins: [
                    PluginDefinition(
                        name: "trace",
                        library: try Fixture.library("trace"),
                        permissions: Permissions(
                            network: ports.map { NetworkGrant(host: "127.0.0.1", port: $0) }
                        )
                    )
                ]
            )
            manifest.host.slots = 4
            for handler in ["context", "submit", "fetch"] {
                manifest.tasks.append(try TestManifest.task(handler, "trace", handler, nil))
            }
            return manifest
        }

        /// A span as the receiver got it.
        private struct Received {
            let name, trace, id, parent: String
            let start, end: Int64
            let attributes: [String: String]
            let isError: Bool
        }

        private func spans(_ receiver: HTTPReceiver) throws -> [Received] {
            try receiver.requests.flatMap { request in
                let scopes = try JSONReader.parse(request.body)["resourceSpans"]?.array?[0][
                    "scopeSpans"
                ]
                return try (scopes?.array?[0]["spans"]?.array ?? []).map { node in
                    let pairs = (node["attributes"]?.array ?? []).map { attribute in
                        let value = attribute["value"]
                        let text = value?["stringValue"]?.string ?? value?["intValue"]?.string
                        return (attribute["key"]?.string ?? "", text ?? "")
                    }
                    return Received(
                        name: try #require(node["name"]?.string),
                        trace: try #require(node["traceId"]?.string),
                        id: try #require(node["spanId"]?.string),
                        parent: node["parentSpanId"]?.string ?? "",
                        start: try #require(
                            node["startTimeUnixNano"]?.string.flatMap { Int64($0) }
                        ),
                        end: try #require(node["endTimeUnixNano"]?.string.flatMap { Int64($0) }),
                        attributes: Dictionary(pairs) { first, _ in first },
                        isError: node["status"]?["code"]?.int64 == 2
                    )
                }
            }
        }

        /// Runs a test with a host that exports to a receiver, and returns the spans when both have ended.
        private func traced(
            _ manifest: Manifest,
            folder: TemporaryDirectory? = nil,
            sample: Int = TraceSettings.sampleMax,
            adjust: (inout HostConfiguration) -> Void = { _ in },
            _ body: (RunningHost) async throws -> Void
        ) async throws -> [Received] {
            let receiver = try HTTPReceiver()
            receiver.start()
            defer { receiver.stop() }
            let fetcher = HTTPFetcher(reachesLocalNames: true)
            var limits = TraceExporter.Limits()
            // The spans go at the end; a busy machine may take its time for that.
            (limits.linger, limits.shutdown) = (3_600_000_000_000, 240_000_000_000)
            let exporter = TraceExporter(
                fetcher: fetcher,
                log: HostLog(level: .trace),
                version: "1",
                limits: limits
            )
            exporter.apply(TraceSettings(endpoint: receiver.url + "/v1/traces", sample: sample))
            do {
                try await withDaemon(
                    manifest,
                    folder: folder,
                    adjust: {
                        adjust(&$0)
                        $0.spans = exporter
                    },
                    body
                )
            } catch {
                await exporter.shutDown()
                await fetcher.shutDown()
                throw error
            }
            await exporter.shutDown()
            await fetcher.shutDown()
            return try spans(receiver)
        }

        private func trigger(
            _ daemon: RunningHost,
            _ task: String,
            _ parameters: String = "{}",
            trace: TraceContext?
        ) async throws -> RunRecord {
            let submission = Submission(task: task, parameters: parameters, trace: trace)
            let request = try await daemon.host.trigger(submission)
            return try #require(await daemon.host.waitForRun(ofRequest: request.id))
        }

        @Test func `a run continues the trace of its submission`() async throws {
            var record: RunRecord?
            let spans = try await traced(try manifest()) { daemon in
                record = try await trigger(daemon, "context", trace: Self.context())
            }
            let run = try #require(record)
            let given = try #require(run.trace).context
            #expect(given.traceID == Self.trace && given.span == run.id.spanID)
            #expect(run.result == #"{"parent":"\#(given.traceparent)","state":"a=1"}"#)
            #expect(spans.allSatisfy { $0.trace == Self.trace })
            #expect(
                Set(spans.map(\.name)) == [
                    "request context", "wait context", "start trace", "run context",
                ]
            )
            let request = try #require(spans.first { $0.name == "request context" })
            #expect(request.parent == "b7ad6b7169203331")
            for span in spans where span.id != request.id {
                #expect(span.parent == request.id, "\(span.name)")
                #expect(span.attributes["bghost.task"] == "context")
                #expect(span.attributes["bghost.run.id"] == run.id.description)
                #expect(
                    span.start <= span.end && span.start >= request.start && span.end <= request.end
                )
            }
            let own = try #require(spans.first { $0.name == "run context" })
            #expect(own.id == given.spanID && own.attributes["bghost.outcome"] == "succeeded")
            #expect(
                own.attributes["bghost.plugin.version"] == "1.2.3"
                    && own.attributes["bghost.attempt"] == "1"
            )
        }

        @Test func `a run without a submitted trace begins one, named after its request`()
            async throws
        {
            var record: RunRecord?
            let spans = try await traced(try manifest()) { daemon in
                record = try await daemon.run("context")
            }
            let run = try #require(record)
            let id = TraceContext.hex(run.request.high) + TraceContext.hex(run.request.low)
            #expect(run.trace?.context.traceID == id)
            #expect(spans.count == 4 && spans.allSatisfy { $0.trace == id })
            #expect(spans.first { $0.name == "request context" }?.parent == "")
        }

        @Test func `a request that a handler submits continues the trace of its run`() async throws
        {
            let spans = try await traced(try manifest()) { daemon in
                _ = try await trigger(daemon, "submit", trace: Self.context())
                try await daemon.line(LogFilter(task: "context")) { $0.event == "run.ended" }
            }
            #expect(spans.allSatisfy { $0.trace == Self.trace })
            let submitter = try #require(spans.first { $0.name == "run submit" })
            #expect(spans.first { $0.name == "request context" }?.parent == submitter.id)
        }

        @Test func `without an exporter a run passes on what was submitted, and no more`()
            async throws
        {
            try await withDaemon(try manifest()) { daemon in
                let run = try await trigger(daemon, "context", trace: Self.context())
                #expect(run.result == #"{"parent":"\#(Self.parent)","state":"a=1"}"#)
                let other = try await daemon.run("context")
                #expect(other.result == "null" && other.trace == nil)
                let line = try await daemon.line { $0.message.hasPrefix("small ") }
                #expect(line.message == "small -12, strange -10" && line.trace == Self.trace)
            }
        }

        @Test func `a handler in Swift reads the parts of its trace`() async throws {
            try await withDaemon(try TestManifest.runtime("trace")) { daemon in
                let run = try await trigger(daemon, "task", trace: Self.context())
                let seen = try JSONReader.parse(run.result)
                #expect(seen["parent"]?.string == Self.parent && seen["state"]?.string == "a=1")
                #expect(seen["trace"]?.string == Self.trace && seen["isSampled"]?.bool == true)
                #expect(seen["span"]?.string == "b7ad6b7169203331")
                #expect(try await daemon.run("task").result == "{}")
            }
        }

        @Test func `a caller that does not record its trace decides for the host too`() async throws
        {
            let text = Self.parent.dropLast(2) + "00"
            let spans = try await traced(try manifest()) { daemon in
                let run = try await trigger(daemon, "context", trace: Self.context(String(text)))
                #expect(run.result == #"{"parent":"\#(text)","state":"a=1"}"#)
            }
            #expect(spans.isEmpty)
        }

        @Test func `what is not sampled has an id and no spans`() async throws {
            let spans = try await traced(try manifest(), sample: 0) { daemon in
                let run = try await daemon.run("context")
                #expect(run.trace?.context.isSampled == false)
            }
            #expect(spans.isEmpty)
        }

        @Test func `each attempt is a span of the same trace, and the last one ends the request`()
            async throws
        {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.failingTwice(after: .milliseconds(1))
            manifest.host.slots = 4
            var spans = try await traced(manifest, folder: folder, adjust: durable) { daemon in
                _ = try await daemon.host.submit(Submission(task: "fail", trace: Self.context()))
                _ = try await daemon.line { $0.event == "request.dead" || $0.event == "run.dead" }
            }
            spans = spans.filter { $0.trace == Self.trace }
            let runs = spans.filter { $0.name == "run fail" }
            #expect(runs.map { $0.attributes["bghost.attempt"] } == ["1", "2"])
            #expect(runs.allSatisfy(\.isError) && Set(runs.map(\.parent)).count == 1)
            let requests = spans.filter { $0.name == "request fail" }
            #expect(requests.count == 1 && requests.first?.isError == true)
            #expect(requests.first?.id == runs.first?.parent)
            #expect(spans.count { $0.name == "wait fail" } == 2)
        }

        /// What a daemon leaves that is killed: a request that waits, and one whose run is under way.
        @Test func `a daemon that follows a killed one goes on with its traces`() async throws {
            let folder = try TemporaryDirectory()
            try #require(mkdir(folder.file("state"), 0o700) == 0)
            let store = try SQLiteStore(path: folder.file("state/bghost.sqlite"))
            let now = WallClock.now
            func id(_ low: UInt64) -> RunID { RunID(high: UInt64(now / 1_000_000) << 16, low: low) }
            let waiting = Request(
                id: id(1),
                task: "context",
                parameters: "{}",
                submittedAt: now,
                priority: 500,
                trace: try Self.context()
            )
            var leased = waiting
            (leased.id, leased.task) = (id(2), "submit")
            var run = RunRecord(
                id: id(3),
                request: leased.id,
                task: "submit",
                plugin: "trace",
                limits: RunLimits(kind: .refresh),
                submittedAt: now
            )
            run.trace = RunTrace(
                context: try Self.context().at(span: run.id.spanID),
                parent: 5,
                since: now
            )
            let changes: [StoreChange] = [
                .accepted(waiting, replacing: nil), .accepted(leased, replacing: nil),
                .runStarted(run),
            ]
            try await withCheckedThrowingContinuation { continuation in
                store.commit(changes) { continuation.resume(with: $0) }
            }
            store.close()
            let spans = try await traced(try manifest(), folder: folder, adjust: durable) {
                daemon in
                try await daemon.line(LogFilter(task: "context")) { $0.event == "run.ended" }
            }
            #expect(spans.allSatisfy { $0.trace == Self.trace })
            let lost = try #require(spans.first { $0.attributes["bghost.outcome"] == "lost" })
            #expect(lost.id == TraceContext.hex(run.id.spanID) && lost.isError)
            #expect(lost.parent == TraceContext.hex(leased.id.spanID))
            let ended = try #require(spans.first { $0.name == "request context" })
            #expect(ended.id == TraceContext.hex(waiting.id.spanID))
            #expect(ended.parent == "b7ad6b7169203331")
        }

        @Test func `each attempt of a transfer has a span, whose id is in its header`() async throws
        {
            let server = try FileServer(Array("content".utf8))
            defer { server.close() }
            let parameters = TransferManifest.parameters(server)
            let own = TransferManifest.parameters(server, [("headers", "TraceParent: mine")])
            let spans = try await traced(TransferManifest.of(server), adjust: fullyDurable) {
                daemon in
                for parameters in [parameters, own] {
                    let run = try await trigger(daemon, "await", parameters, trace: Self.context())
                    #expect(run.outcome == .succeeded)
                }
            }
            let runs = spans.filter { $0.name == "run await" }
            let attempts = spans.filter { $0.name == "GET" }
            #expect(attempts.map(\.parent) == [runs.first?.id])
            let attempt = try #require(attempts.first)
            #expect(attempt.attributes["bghost.transfer.bytes"] == "7")
            #expect(attempt.attributes["http.response.status_code"] == "200")
            let headers = server.seen.map { $0.headers["traceparent"] }
            #expect(headers == ["00-\(Self.trace)-\(attempt.id)-01", "mine"])
        }

        @Test func `a fetch has a span, whose id is in its header`() async throws {
            let server = try FileServer([1, 2, 3])
            defer { server.close() }
            let fetcher = HTTPFetcher()
            let parameters = #"{"url": "\#(server.url)"}"#
            let own = #"{"url": "\#(server.url)", "headers": "TraceParent: mine"}"#
            let spans = try await traced(
                try manifest([server.port]),
                adjust: { $0.fetcher = fetcher }
            ) { daemon in
                let run = try await trigger(daemon, "fetch", parameters, trace: Self.context())
                #expect(run.outcome == .succeeded)
                _ = try await self.trigger(daemon, "fetch", own, trace: Self.context())
            }
            await fetcher.shutDown()
            let runs = spans.filter { $0.name == "run fetch" }
            let fetches = spans.filter { $0.name == "GET" }
            #expect(fetches.map(\.parent) == runs.map(\.id) && fetches.count == 2)
            let first = try #require(fetches.first)
            #expect(first.attributes["http.response.status_code"] == "200")
            #expect(first.attributes["server.port"] == "\(server.port)")
            #expect(!first.attributes.values.contains { $0.contains(server.url) })
            let headers = server.seen.map { $0.headers["traceparent"] }
            #expect(headers == ["00-\(Self.trace)-\(first.id)-01", "mine"])
            #expect(server.seen.map { $0.headers["tracestate"] } == ["a=1", nil])
        }
    }
}
