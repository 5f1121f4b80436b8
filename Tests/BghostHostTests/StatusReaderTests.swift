// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import Testing

/// The owner that describes the daemon for `status`, without a process.
@Suite(.timeLimit(.minutes(5))) struct StatusReaderTests {
    private static func manifest(_ tasks: [String], notifies: Bool = false) throws -> Manifest {
        var manifest = SampleManifest.make()
        manifest.plugins[0].maxPending = PendingLimits(refresh: 1000, processing: 1000)
        manifest.plugins[0].permissions.notify = notifies
        manifest.tasks = try tasks.map { name in
            TaskDefinition(
                identifier: try #require(IdentifierPattern(name)),
                handler: .plugin(name: "plugin", handler: "h"),
                retry: RetryPolicy(kind: .refresh)
            )
        }
        return manifest
    }

    @Test func `Members of families are listed up to a bound, and the others counted`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(
                actor.reactor,
                manifest: try Self.manifest(["job.*", "own"], notifies: true)
            )
            let reader = HostCommands(daemon.owners).status
            for number in 0..<300 { try await daemon.wait(for: "job.\(number)") }
            let status = await reader.status()
            let listed = status.tasks.map(\.identifier)
            // The family for answers to notifications is no task of the manifest's author.
            #expect(listed.prefix(2) == ["job.*", "own"])
            #expect(listed.count == 2 + HostStatus.familyMembersMax)
            #expect(status.tasksOmitted == 300 - HostStatus.familyMembersMax)
            #expect(listed[2] == "job.299" && !listed.contains("job.0"))
            // A client that names a task gets it, whether it is listed or not.
            let named = try await reader.status(of: ["job.0"])
            #expect(named.tasks.map(\.identifier) == ["job.0"] && named.tasksOmitted == 0)
            #expect(named.tasks[0].pending != nil)
        }
    }

    @Test func `A run is shown while it runs, and as the last one after its end`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let reader = HostCommands(daemon.owners).status
            let run = try await daemon.run()
            let during = await reader.status()
            #expect(during.tasks[0].running.map(\.id) == [run.record.id])
            #expect(during.tasks[0].last == nil && during.slotsInUse == 1)
            let id = run.record.id
            daemon.end(run)
            let after = await reader.status()
            #expect(after.tasks[0].running.isEmpty && after.tasks[0].last?.id == id)
            #expect(after.slotsInUse == 0)
        }
    }

    @Test func `A member that runs is listed, however many were used after it`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, manifest: try Self.manifest(["job.*"]))
            let reader = HostCommands(daemon.owners).status
            _ = try await daemon.run("job.first")
            for number in 0..<300 { try await daemon.wait(for: "job.\(number)") }
            let status = await reader.status()
            let first = status.tasks.first { $0.identifier == "job.first" }
            #expect(first?.running.count == 1)
            #expect(status.tasksOmitted == 300 - HostStatus.familyMembersMax)
        }
    }

    @Test func `A plugin that a reload replaced is not listed`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let reader = HostCommands(daemon.owners).status
            daemon.plugin.problem = PluginProblem(message: "it is broken")
            #expect(await reader.status().plugins.map(\.problem) == ["it is broken"])
            daemon.owners.plugins.retire(daemon.plugin)
            #expect(await reader.status().plugins.isEmpty)
        }
    }

    @Test func `The status of a task that no manifest has names the nearest`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let reader = HostCommands(daemon.owners).status
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await reader.status(of: ["backup", "bakcup"])
            }
            #expect(refusal?.code == .noSuchTask && refusal?.candidates == ["backup"])
        }
    }
}

extension TestOwners {
    /// Submits a request that waits without end.
    nonisolated(nonsending) func wait(for task: String) async throws {
        let submission = Submission(task: task, earliestBegin: .max)
        _ = try await owners.intake.submit(submission, isManual: false)
    }
}
