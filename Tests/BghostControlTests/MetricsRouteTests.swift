// SPDX-License-Identifier: Apache-2.0

@testable import BghostControl
import BghostMetrics
import BghostTestSupport
import Testing

/// What the metrics say of the control API itself.
@Suite(.timeLimit(.minutes(5))) struct MetricsRouteTests {
    private static func get(_ path: String, _ serving: Serving) async throws -> String {
        try await onThread {
            let connection = try RawConnection(serving.socketPath)
            connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.receiveAnswer()
        }
    }

    @Test func `Requests are counted by endpoint and by how they were answered`() async throws {
        try await Serving.with { serving in
            for path in ["/v1/version", "/v1/version", "/v1/version?nonsense=1"] {
                _ = try await Self.get(path, serving)
            }
            // A path with an id, which must not become a label.
            _ = try await Self.get("/v1/runs/01K0000000000000000000000", serving)
            // No endpoint has this path.
            _ = try await Self.get("/v1/nothing", serving)
            let text = try await Self.get("/metrics", serving)
            for line in [
                #"{endpoint="GET /v1/version",answer="ok"} 2"#,
                #"{endpoint="GET /v1/version",answer="refused"} 1"#,
                #"{endpoint="GET /v1/version",answer="failed"} 0"#,
                #"{endpoint="GET /v1/runs/:id",answer="refused"} 1"#,
            ] {
                #expect(text.contains("\nbghost_control_requests_total\(line)\n"), "\(text)")
            }
            #expect(
                text.contains(
                    #"bghost_control_request_seconds_total{endpoint="GET /v1/version"} 0."#
                )
            )
            #expect(!text.contains("nothing") && !text.contains("01K0"))
        }
    }

    @Test func `Requests of the dashboard count with those of the socket`() async throws {
        try await DashboardServing.with { serving in
            // Without a session it is refused before its endpoint is known.
            _ = try await serving.answer("GET /v1/version")
            let before = serving.dashboard.meter.byName.map(\.name)
            #expect(!before.contains("GET /v1/version"))
            let text = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send("GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return connection.receiveAnswer()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 "))
            let counts = serving.dashboard.meter.byName.first { $0.name == "GET /v1/version" }
            #expect(counts?.counts.count(.ok) == 1)
        }
    }

    @Test func `The metrics have room for each endpoint`() {
        #expect(Endpoint.allCases.count <= EndpointCounts.endpointsMax)
    }
}
