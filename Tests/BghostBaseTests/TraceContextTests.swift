// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import Testing

@Suite struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"
    private static let parent = "00-\(trace)-\(span)-01"

    @Test func `the example of the specification is read and written`() throws {
        let context = try TraceContext(
            traceparent: Self.parent,
            tracestate: "congo=t61rcWkgMzE, rojo=00f067aa0ba902b7"
        )
        #expect(context.traceID == Self.trace && context.spanID == Self.span)
        #expect(context.isSampled && context.traceparent == Self.parent)
        #expect(context.state == "congo=t61rcWkgMzE, rojo=00f067aa0ba902b7")
        #expect(context.at(span: 0x1F).traceparent == "00-\(Self.trace)-000000000000001f-01")
    }

    @Test(arguments: [
        ("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("fc", "00"), ("ff", "03"),
    ])
    func `version 00 passes on the flags that it defines`(given: String, kept: String) throws {
        let context = try TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-\(given)")
        #expect(context.traceparent.hasSuffix("-\(kept)"))
    }

    /// The parts of version 00 are read of later versions, and nothing else.
    @Test(arguments: ["01-T-S-01", "cc-T-S-01-what-the-future-brings", "fe-T-S-03-"])
    func `a later version is read as far as it is known`(form: String) throws {
        let context = try TraceContext(traceparent: Self.filled(form))
        #expect(context.traceparent == Self.parent)
    }

    @Test(arguments: [
        "", "00", "00-T-S-0", "00-T-S-01-", "00-T-S-01-x", "00-T-S-011", "01-T-S-01x", "01-T-S-01.",
        "ff-T-S-01", "0G-T-S-01", "0-T-S-01", "00_T-S-01", "00-T_S-01", "00-T-S_01", "00-T-S-0g",
        "00-T-S-0A", "00-0AF7651916CD43DD8448EB211C80319C-S-01", "00-T-B7AD6B7169203331-01",
        "00-00000000000000000000000000000000-S-01", "00-T-0000000000000000-01", " 00-T-S-01",
        "00-T-S-01 ", "00-T-S-01\n", "00-T-S-+1", "00-0af7651916cd43dd8448eb211c80319\u{0}-S-01",
        "00-ａf7651916cd43dd8448eb211c80319c-S-01",
    ])
    func `what is not a traceparent is refused`(form: String) {
        #expect(throws: TraceContextFault.self) {
            try TraceContext(traceparent: Self.filled(form))
        }
    }

    @Test func `a header of any length is refused without being read`() {
        let long = Self.parent + String(repeating: "0", count: 1 << 20)
        #expect(throws: TraceContextFault.self) { try TraceContext(traceparent: long) }
    }

    @Test(arguments: [
        "", "a=1", "a=1,b=2", " a=1 ,\tb=2", "a=1,,b=2", "0a=1", "fw529a3039@dt=FfeB0Q",
        "a_-*/0=!~",
        "a= x", "a=" + String(repeating: "v", count: 256),
        (0..<32).map { "k\($0)=v" }.joined(separator: ","),
    ])
    func `a list that the specification permits is passed on`(list: String) throws {
        let context = try TraceContext(traceparent: Self.parent, tracestate: list)
        #expect(context.state == TraceState.trimmed(list))
    }

    @Test(arguments: [
        "a", "=1", "a=", "A=1", "a=1,a=2", "a=1=2", "a b=1", "a=1\u{7F}", "a=1\r\nb: c", "é=1",
        "a=é", "a=\u{301}x",
        "a=1\u{0}", "a=" + String(repeating: "v", count: 257),
        String(repeating: "k", count: 257) + "=v",
        (0..<33).map { "k\($0)=v" }.joined(separator: ","),
        (0..<3).map { "k\($0)=" + String(repeating: "v", count: 200) }.joined(separator: ","),
    ])
    func `a list that the specification does not permit is refused`(list: String) {
        #expect(throws: TraceContextFault.self) {
            try TraceContext(traceparent: Self.parent, tracestate: list)
        }
    }

    @Test func `faulty headers of a library count as none`() {
        #expect(TraceContext(traceparents: [], tracestates: ["a=1"]) == nil)
        #expect(TraceContext(traceparents: ["x"], tracestates: []) == nil)
        #expect(TraceContext(traceparents: [Self.parent, Self.parent], tracestates: []) == nil)
        let two = TraceContext(traceparents: [Self.parent], tracestates: ["a=1", "b=2"])
        #expect(two?.state == "a=1,b=2")
        let dropped = TraceContext(traceparents: [Self.parent], tracestates: ["a=1", "A=2"])
        #expect(dropped?.traceparent == Self.parent && dropped?.state == "")
    }

    @Test func `a stored trace is read as it was written`() throws {
        for state in ["", "a=1, b=2"] {
            let context = try TraceContext(traceparent: Self.parent, tracestate: state)
            let trace = RunTrace(context: context, parent: .max, since: -5)
            #expect(RunTrace(stored: trace.stored) == trace)
        }
        for text in [
            "", "x", Self.parent, "\(Self.parent) 1 2", "\(Self.parent) g 2 ",
            "\(Self.parent) 1 x ",
        ] {
            #expect(RunTrace(stored: text) == nil, "\(text)")
        }
    }

    @Test func `the spans of consecutive ids differ, and none is 0`() {
        let ids = (0..<10_000).map { RunID(high: 7, low: UInt64($0)).spanID }
        #expect(Set(ids).count == ids.count && !ids.contains(0))
    }

    private static func filled(_ form: String) -> String {
        form.replacing("T", with: trace).replacing("S", with: span)
    }
}
