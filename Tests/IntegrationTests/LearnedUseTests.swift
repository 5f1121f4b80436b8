// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Tasks that begin before what they bring is usually used.
    @Suite struct LearnedUseTests {
        private func learning(_ task: String, in manifest: Manifest) throws -> Manifest {
            var manifest = manifest
            let index = try #require(
                manifest.tasks.firstIndex { $0.identifier.description == task }
            )
            manifest.tasks[index].learnsUse = true
            manifest.tasks[index].tolerance = .seconds(86_400)
            return manifest
        }

        private func pass(days: Int, in daemon: RunningHost) async throws {
            _ = try await daemon.host.simulate(clock: try SimulatedClock("+\(days * 24)h"))
        }

        @Test(.timeLimit(.minutes(5)))
        func `Recorded uses decide the start of the next request, also after a restart`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try learning("echo", in: try TestManifest.misbehave())
            func withStore(_ body: (RunningHost) async throws -> Void) async throws {
                try await withDaemon(
                    manifest,
                    folder: folder,
                    adjust: durable,
                    body
                )
            }
            try await withStore { daemon in
                for _ in 0..<4 {
                    _ = try await daemon.host.use(task: "echo")
                    try await pass(days: 1, in: daemon)
                }
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.use(task: "fail")
                }
                #expect(refusal?.fix.contains("learnsUse") == true)
                let unknown = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.use(task: "nosuch")
                }
                #expect(unknown?.code == .noSuchTask)
            }
            try await withStore { daemon in
                try await pass(days: 4, in: daemon)
                let uses = try #require(await daemon.host.uses(task: "echo").first)
                #expect(uses.days == 4 && uses.usual.count == 1)
                #expect(await daemon.host.uses(task: nil) == [uses])
                let now = WallClock.now + 4 * 24 * hour
                let request = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: now + 2 * hour)
                )
                #expect(
                    request.waitingFor.contains {
                        $0.hasPrefix("its usual use: starts at ")
                    },
                    "\(request.waitingFor)"
                )
                let forgotten = try await daemon.host.forgetUses(task: "echo")
                #expect(forgotten == UseStatus(task: "echo"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An answer to a notification counts as a use of its task`() async throws {
            let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(200))
            let manifest = Manifest(
                plugins: [
                    PluginDefinition(
                        name: "notify",
                        library: try Fixture.library("notify"),
                        permissions: Permissions(notify: true)
                    )
                ],
                tasks: [
                    try TestManifest.task("post", "notify", "post", limits),
                    try TestManifest.task("tell", "notify", "deliver", limits),
                ],
                notifications: NotificationSettings(task: try TestManifest.pattern("tell"))
            )
            try await withDaemon(try learning("post", in: manifest)) { daemon in
                let run = try await daemon.run("post", #"{"id":"a","title":"A"}"#)
                #expect(run.outcome == .succeeded)
                try await daemon.line { $0.event == "notification.delivered" }
                #expect(await daemon.host.uses(task: "post").map(\.days) == [0])
                _ = try await daemon.host.act(
                    on: .id("a", plugin: nil),
                    action: "default",
                    text: nil
                )
                try await pass(days: 1, in: daemon)
                #expect(await daemon.host.uses(task: nil).map(\.days) == [1])
            }
        }
    }
}
