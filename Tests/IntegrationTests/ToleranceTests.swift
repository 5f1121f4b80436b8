// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Requests that may begin later than their date.
    @Suite struct ToleranceTests {
        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        private func withStore(_ body: (RunningHost) async throws -> Void) async throws {
            try await withDaemon(
                try TestManifest.misbehave(),
                folder: folder,
                adjust: durable,
                body
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `A tolerance is shown, and kept over a restart`() async throws {
            let earliest = try #require(Timestamp.unixNanoseconds("2100-01-01T00:00:00Z"))
            let tolerance: Int64 = 600_000_000_000
            try await withStore { daemon in
                _ = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: earliest, tolerance: tolerance)
                )
            }
            try await withStore { daemon in
                let waiting = await daemon.host.pending(task: "echo", limit: 1).requests.first
                #expect(waiting?.tolerance == tolerance)
                #expect(
                    waiting?.waitingFor == [
                        "its earliest begin date",
                        "other tasks, to start together at 2100-01-01T00:04:16.000Z",
                    ]
                )
            }
        }
    }
}
