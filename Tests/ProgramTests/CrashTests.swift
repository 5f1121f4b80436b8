// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostControl
import BghostPolicy
import BghostTestSupport
import Glibc
import Synchronization
import Testing

/// What survives the death of the daemon.
@Suite(.ownThreads, .serialized) struct CrashTests {
    /// The accepted requests of a client: their ids by the number of their task.
    private final class Promises: Sendable {
        private struct State {
            var accepted: [Int: RunID] = [:]
            var lastNumber = 0
            var target = Int.max
            var onTarget: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        func nextNumber() -> Int {
            state.withLock {
                $0.lastNumber += 1
                return $0.lastNumber
            }
        }

        func add(_ number: Int, _ id: RunID) {
            let reached = state.withLock { state -> (@Sendable () -> Void)? in
                state.accepted[number] = id
                guard state.accepted.count >= state.target else { return nil }
                defer { state.onTarget = nil }
                return state.onTarget
            }
            reached?()
        }

        /// Has something done as soon as this many more are accepted.
        func after(_ more: Int, _ body: @escaping @Sendable () -> Void) {
            state.withLock {
                $0.target = $0.accepted.count + more
                $0.onTarget = body
            }
        }

        var accepted: [Int: RunID] { state.withLock { $0.accepted } }
    }

    /// `BGHOST_CRASH_ROUNDS`, or a few.
    private static var rounds: Int {
        getenv("BGHOST_CRASH_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 60
    }

    @Test(.timeLimit(.minutes(60)))
    func `Daemons killed under load break no guarantee`() async throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(
            """
            {"version": 1, "host": {"slots": 4},
             "plugins": {"mark": {"library": "\(try Fixture.library("mark"))",
                                  "maxPending": {"refresh": 100000}}},
             "tasks": {"job.*": {"plugin": "mark", "handler": "mark", "overlap": "allow"}}}
            """,
            to: "tasks.json"
        )
        var random = SeededGenerator(seed: 0xC0FFEE)
        let promises = Promises()
        for _ in 0..<Self.rounds {
            let daemon = try TestDaemon(manifest: manifest, folder: folder)
            let pid = daemon.program.pid
            let more = Int.random(in: 0..<24, using: &random)
            if more == 0 {
                kill(pid, SIGKILL)
            } else {
                promises.after(more) { kill(pid, SIGKILL) }
                await submit(to: daemon.state + "/control.sock", promises)
                // Clients that gave up before leave it alive, and nothing else would end it.
                kill(pid, SIGKILL)
            }
            #expect(daemon.program.end() == -SIGKILL)
        }
        try await verify(promises.accepted, manifest, folder)
    }

    /// Submits from several clients at once until the daemon is gone.
    private func submit(to socket: String, _ promises: Promises) async {
        try? await ControlClient.with(socketPath: socket) { client in
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        while true {
                            let number = promises.nextNumber()
                            let submission = Submission(task: "job.\(number)")
                            guard let answer = try? await client.submit(submission) else { return }
                            promises.add(number, answer.value.id)
                        }
                    }
                }
            }
        }
    }

    /// Lets a last daemon finish what is left, and counts.
    private func verify(
        _ promised: [Int: RunID],
        _ manifest: String,
        _ folder: TemporaryDirectory
    ) async throws {
        #expect(promised.count > 5 * Self.rounds)
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        try await ControlClient.with(socketPath: daemon.state + "/control.sock") { client in
            for (number, id) in promised.sorted(by: { $0.key < $1.key }) {
                _ = try await client.endedRun(ofRequest: id)
                let runs = try await client.runs(task: "job.\(number)", limit: 100).value
                let succeeded = runs.count { $0.outcome == .succeeded }
                #expect(succeeded == 1, "job.\(number): \(runs.map { $0.outcome?.text ?? "" })")
                #expect(runs.allSatisfy { $0.request == id })
                // Each attempt has a token of its own, and none was accepted under an old one.
                #expect(Set(runs.map(\.epoch)).count == runs.count)
            }
        }
        #expect(daemon.stop() == 0)
        let text = String(decoding: try File.read(daemon.state + "/data/mark/marks"), as: UTF8.self)
        let marks = Set(text.split(separator: "\n"))
        let lost = promised.keys.filter { !marks.contains("job.\($0)") }
        #expect(lost.isEmpty, "lost: \(lost)")
    }
}
