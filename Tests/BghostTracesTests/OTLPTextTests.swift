// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTraces
import Testing

@Suite struct OTLPTextTests {
    private func span(_ span: Span) throws -> JSONNode {
        let text = OTLPText(version: "1.2", host: "edge-7")
        let node = try JSONReader.parse(text.bytes(of: [span]))
        return try #require(
            node["resourceSpans"]?.array?[0]["scopeSpans"]?.array?[0]["spans"]?.array?[0]
        )
    }

    /// The names and forms are those of `trace.proto` and of the JSON mapping of OTLP.
    @Test func `a span has the names and forms of the specification`() throws {
        let node = try span(.sample(named: "run a"))
        #expect(node["traceId"]?.string == "0af7651916cd43dd8448eb211c80319c")
        #expect(node["spanId"]?.string == "0000000000000007")
        #expect(node["parentSpanId"]?.string == "0000000000000009")
        #expect(node["kind"]?.int64 == 5 && node["flags"]?.int64 == 1)
        #expect(node["startTimeUnixNano"]?.string == "1790000000000000001")
        #expect(node["endTimeUnixNano"]?.string == "1790000000000000002")
        #expect(node["name"]?.string == "run a")
        let attributes = try #require(node["attributes"]?.array)
        #expect(attributes[0]["key"]?.string == "bghost.task")
        #expect(attributes[0]["value"]?["stringValue"]?.string == "a \"b\"\n")
        #expect(attributes[1]["value"]?["intValue"]?.string == "-3")
        #expect(attributes[2]["value"]?["boolValue"]?.bool == true)
        #expect(node["status"] == nil && node["traceState"] == nil)
    }

    @Test func `a failed span has the code of an error and a message`() throws {
        let node = try span(.sample(named: "run a", error: "it went wrong"))
        #expect(node["status"]?["code"]?.int64 == 2)
        #expect(node["status"]?["message"]?.string == "it went wrong")
    }

    @Test func `the root of a trace has no parent, and the state of vendors is passed on`() throws {
        var root = Span.sample(named: "request a")
        root.parent = 0
        root.context.state = "a=1"
        let node = try span(root)
        #expect(node["parentSpanId"] == nil && node["traceState"]?.string == "a=1")
    }

    @Test func `a text of a plugin is cut`() throws {
        let node = try span(.sample(named: String(repeating: "n", count: 1 << 20), error: "é"))
        #expect(node["name"]?.string?.utf8.count == 1024)
        #expect(node["status"]?["message"]?.string == "é")
    }

    @Test func `the resource names the program, its version and its machine`() throws {
        let bytes = OTLPText(version: "1.2", host: "edge-7").bytes(of: [])
        let resource = try JSONReader.parse(bytes)["resourceSpans"]?.array?[0]["resource"]
        let attributes = try #require(resource?["attributes"]?.array)
        let pairs = attributes.map { ($0["key"]?.string, $0["value"]?["stringValue"]?.string) }
        #expect(pairs.map(\.0) == ["service.name", "service.version", "host.name"])
        #expect(pairs.map(\.1) == ["bghost", "1.2", "edge-7"])
    }
}
