// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import Testing

/// The section `traces`.
@Suite struct TraceManifestTests {
    private func read(_ traces: String) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
        ManifestFixture.read(#"{ "version": 1, "host": { "traces": \#(traces) }, "tasks": {} }"#)
    }

    @Test func `Address, headers and share are read`() throws {
        let (manifest, diagnostics) = read(
            """
            { "endpoint": "https://otel.example/v1/traces", "headers": { "Authorization": "Bearer x" },
              "sample": "10%" }
            """
        )
        #expect(diagnostics.isEmpty)
        let wanted = TraceSettings(
            endpoint: "https://otel.example/v1/traces",
            headers: [AlertHeader(name: "Authorization", value: "Bearer x")],
            sample: 1000
        )
        #expect(manifest?.host.traces == wanted)
        let plain = read(#"{ "endpoint": "http://127.0.0.1:4318/v1/traces" }"#)
        #expect(plain.diagnostics.isEmpty && plain.manifest?.host.traces?.sample == 10_000)
    }

    @Test func `Without the section there are no traces`() {
        #expect(
            ManifestFixture.read(#"{ "version": 1, "tasks": {} }"#).manifest?.host.traces == nil
        )
    }

    @Test(arguments: [
        (#"{}"#, DiagnosticCode.missingKey),
        (#"{ "endpoint": "otel.example/t" }"#, .badWebAddress),
        (#"{ "endpoint": "http://u:p@otel.example/t" }"#, .badWebAddress),
        (#"{ "endpoint": "http://h/t", "sample": "101%" }"#, .outOfRange),
        (#"{ "endpoint": "http://h/t", "sample": "0.5%" }"#, .badShare),
        (#"{ "endpoint": "http://h/t", "headers": { "Content-Type": "x" } }"#, .badName),
        (#"{ "endpoint": "https://h/t", "headers": { "X": "a\nb" } }"#, .badName),
        (#"{ "endpoint": "http://h/t", "headers": { "X": 1 } }"#, .wrongType),
    ])
    func `What cannot work is refused`(traces: String, code: DiagnosticCode) {
        let (manifest, diagnostics) = read(traces)
        #expect(manifest == nil && diagnostics.map(\.code) == [code], "\(diagnostics)")
    }

    @Test(arguments: [
        (#"{ "endpoint": "http://h" }"#, DiagnosticCode.traceEndpointWithoutPath),
        (#"{ "endpoint": "https://h:4318/" }"#, .traceEndpointWithoutPath),
        (#"{ "endpoint": "http://[::1]:4317/v1/traces" }"#, .traceEndpointOfGRPC),
        (
            #"{ "endpoint": "http://h/v1/traces", "headers": { "X": "secret" } }"#,
            .traceHeadersInClear
        ),
        (
            #"{ "endpoint": "http://127.example/t", "headers": { "X": "secret" } }"#,
            .traceHeadersInClear
        ),
    ])
    func `What is most likely wrong is a warning that shows no secret`(
        traces: String,
        code: DiagnosticCode
    ) {
        let (manifest, diagnostics) = read(traces)
        #expect(manifest?.host.traces != nil && diagnostics.map(\.code) == [code], "\(diagnostics)")
        #expect(!diagnostics.contains { $0.message.contains("secret") })
    }

    @Test(arguments: [
        "http://localhost:4318/t", "http://127.0.0.1/t", "http://[::1]:4318/t", "https://h/t",
    ])
    func `Headers to this machine, or encrypted, are no problem`(endpoint: String) {
        let traces = #"{ "endpoint": "\#(endpoint)", "headers": { "X": "secret" } }"#
        #expect(read(traces).diagnostics.isEmpty)
    }
}
