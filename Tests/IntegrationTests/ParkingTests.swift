// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Requests whose task the manifest drops.
    @Suite struct ParkingTests {
        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        private func withTask(
            _ isPermitted: Bool,
            _ body: (RunningHost) async throws -> Void
        ) async throws {
            var manifest = try TestManifest.misbehave()
            if !isPermitted { manifest.tasks.removeAll { $0.identifier.description == "echo" } }
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: durable,
                body
            )
        }

        private func pending(_ daemon: RunningHost) async -> [PendingRequest] {
            await daemon.host.pending(task: "echo", limit: 10).requests
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request of a removed task waits until the task returns`() async throws {
            let due = WallClock.now + 3_600_000_000_000
            try await withTask(true) { daemon in
                _ = try await daemon.host.submit(Submission(task: "echo", earliestBegin: due))
            }
            // Twice, as since when it is parked is kept.
            var sentences: [[String]] = []
            for _ in 0..<2 {
                try await withTask(false) { daemon in
                    let waiting = await pending(daemon)
                    #expect(waiting.map(\.earliestBegin) == [due])
                    sentences += waiting.map(\.waitingFor)
                    let error = await #expect(throws: SubmitError.self) {
                        try await daemon.host.submit(Submission(task: "echo"))
                    }
                    #expect(error?.code == .notPermitted)
                }
            }
            #expect(sentences.count == 2 && sentences[0] == sentences[1])
            #expect(sentences[0].first?.contains("no longer in the manifest") == true)
            try await withTask(true) { daemon in
                #expect(await pending(daemon).map(\.waitingFor) == [["its earliest begin date"]])
                _ = try await daemon.host.submit(Submission(task: "echo"))
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request of a removed task can be withdrawn`() async throws {
            try await withTask(true) { daemon in
                _ = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: WallClock.now + 3_600_000_000_000)
                )
            }
            try await withTask(false) { daemon in
                let withdrawn = try await daemon.host.cancelPending(task: "echo")
                #expect(withdrawn.count == 1)
                #expect(await pending(daemon).isEmpty)
            }
            try await withTask(true) { daemon in
                #expect(await pending(daemon).isEmpty)
            }
        }
    }
}
