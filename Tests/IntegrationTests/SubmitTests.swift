// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
import BghostFacts
@testable import BghostHost
@testable import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Requests that handlers make.
    @Suite struct SubmitTests {
        /// The fixture's `submit`, with tasks of its own and of others.
        private func manifest(granting: [String]) throws -> Manifest {
            var manifest = try TestManifest.misbehave()
            let plugin = try #require(manifest.plugins.firstIndex { $0.name == "misbehave" })
            manifest.plugins[plugin].permissions.submit = try granting.map(TestManifest.pattern)
            return manifest
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["echo", "witness.echo"])
        func `A handler may submit its plugin's own tasks and those that it is granted`(
            task: String
        ) async throws {
            try await withDaemon(try manifest(granting: ["witness.*"])) { daemon in
                let record = try await daemon.run("submit", #"{"task":"\#(task)"}"#)
                #expect(record.outcome == .succeeded)
                try await daemon.line("submit answered 0", LogFilter(run: record.id))
                let entry = try await daemon.line(LogFilter(task: task)) { $0.event == "run.ended" }
                let submitted = await daemon.host.runs(
                    idPrefix: try #require(entry.run).description,
                    limit: 1
                )
                #expect(submitted.first?.result == #"{"by":"submit"}"#)
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [("witness.echo", -13), ("nowhere", -13), ("witness.nap", -13)]
        )
        func `A handler may not submit anything else`(task: String, status: Int) async throws {
            try await withDaemon(try manifest(granting: ["witness.other"])) { daemon in
                let record = try await daemon.run("submit", #"{"task":"\#(task)"}"#)
                #expect(record.outcome == .failed)
                try await daemon.line("submit answered \(status)", LogFilter(run: record.id))
                let refusal = try await daemon.line { $0.event == "call.refused" }
                #expect(refusal.plugin == "misbehave")
                #expect(refusal.message.contains(task))
                #expect(await daemon.host.runs(task: task, limit: 1).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request survives the crash of the worker that submitted it`() async throws {
            var manifest = try manifest(granting: [])
            manifest.host.slots = 1
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("submit", #"{"task":"crash-in-start"}"#)
                #expect(record.outcome == .succeeded)
                let crash = try await daemon.line(LogFilter(task: "crash-in-start")) {
                    $0.event == "run.ended"
                }
                #expect(crash.message.hasPrefix("crashed"))
                let again = try await daemon.run("submit", #"{"task":"echo"}"#)
                #expect(again.outcome == .succeeded)
                #expect(again.pid != record.pid)
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
            }
        }

        // MARK: Kinds and requirements

        /// 1 is a refresh request, 2 one for processing.
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [("echo", 2, -17), ("echo", 1, 0), ("long", 1, -17)]
        )
        func `A request of another kind than its task's is refused, and the log says why`(
            task: String,
            kind: Int,
            status: Int
        ) async throws {
            var manifest = try manifest(granting: [])
            manifest.tasks.append(try long("long"))
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("submit", #"{"task":"\#(task)","kind":\#(kind)}"#)
                try await daemon.line("submit answered \(status)", LogFilter(run: record.id))
                guard status != 0 else { return }
                let refusal = try await daemon.line { $0.event == "call.refused" }
                #expect(refusal.message.contains("\(task), which is a task of kind "))
                #expect(refusal.message.contains(#"`"kind": "#))
            }
        }

        private func long(_ identifier: String) throws -> TaskDefinition {
            TaskDefinition(
                identifier: try TestManifest.pattern(identifier),
                handler: .plugin(name: "misbehave", handler: "echo"),
                kind: .processing
            )
        }

        // MARK: Options

        /// The bits of `BG_SUBMIT_*`.
        private enum Bits {
            static let keep = 0x100
            static let append = 0x300
            static let now = 0x400
        }

        private static let far = 4_102_444_800_000
        private static let now = #"{"task":"echo","needs":\#(Bits.now)}"#

        @Test(.timeLimit(.minutes(5)))
        func `A request that must start at once is refused while no slot is free`() async throws {
            var manifest = try manifest(granting: [])
            // The run that submits it has the slot.
            manifest.host.slots = 1
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("submit", Self.now)
                try await daemon.line("submit answered -18", LogFilter(run: record.id))
                let refusal = try await daemon.line { $0.event == "call.refused" }
                #expect(refusal.message.hasPrefix("`echo` was to start at once or not at all"))
                #expect(refusal.message.hasSuffix("slot: 1 of 1 in use"), "\(refusal.message)")
                #expect(await daemon.host.pending(task: "echo", limit: 1).requests.isEmpty)
                #expect(await daemon.host.runs(task: "echo", limit: 1).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request that must start at once does, unless one is pending`() async throws {
            var manifest = try manifest(granting: [])
            manifest.host.slots = 4
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.run("submit", Self.now)
                try await daemon.line("submit answered 0", LogFilter(run: first.id))
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }

                _ = try await daemon.run("submit", #"{"task":"echo","earliest":\#(Self.far)}"#)
                let kept = await daemon.host.pending(task: "echo", limit: 2).requests
                let second = try await daemon.run("submit", Self.now)
                try await daemon.line("submit answered -18", LogFilter(run: second.id))
                let after = await daemon.host.pending(task: "echo", limit: 2).requests
                #expect(kept.count == 1 && after.map(\.id) == kept.map(\.id))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler appends a request, or keeps the pending one`() async throws {
            try await withDaemon(try manifest(granting: [])) { daemon in
                _ = try await daemon.run("submit", #"{"task":"echo","earliest":\#(Self.far)}"#)
                let first = await daemon.host.pending(task: "echo", limit: 3).requests
                for bits in [Bits.keep, Bits.append] {
                    let parameters = #"{"task":"echo","earliest":\#(Self.far),"needs":\#(bits)}"#
                    let record = try await daemon.run("submit", parameters)
                    try await daemon.line("submit answered 0", LogFilter(run: record.id))
                }
                let all = await daemon.host.pending(task: "echo", limit: 3).requests
                #expect(all.count == 2)
                #expect(all.contains { $0.id == first.first?.id })
            }
        }

        /// No task of the manifest requires any of it.
        @Test(.timeLimit(.minutes(5)))
        func `The host watches a request's requirement, also after a restart`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(granting: [])
            func withFacts(
                _ facts: ManualFacts,
                _ body: (RunningHost) async throws -> Void
            ) async throws {
                facts.report(.externalPower, .state(false), text: "battery")
                try await withDaemon(
                    manifest,
                    folder: folder,
                    adjust: { configuration in
                        durable(&configuration)
                        configuration.factSources = { wanted in
                            wanted.contains(.externalPower) ? [facts] : []
                        }
                    },
                    body
                )
            }
            try await withFacts(ManualFacts([.externalPower])) { daemon in
                let record = try await daemon.run("submit", #"{"task":"echo","needs":2}"#)
                try await daemon.line("submit answered 0", LogFilter(run: record.id))
                try await daemon.line { $0.message.hasPrefix("externalPower: unmet") }
                let waiting = await daemon.host.pending(task: "echo", limit: 1).requests.first
                #expect(waiting?.waitingFor.first?.hasPrefix("externalPower: ") == true)
                _ = try await daemon.run("list-pending")
                try await daemon.line("listed 0 1, 0 1, 1 distinct, first echo needs 2 kind 1")
            }
            let facts = ManualFacts([.externalPower])
            try await withFacts(facts) { daemon in
                try await daemon.line { $0.message.hasPrefix("externalPower: unmet") }
                facts.report(.externalPower, .state(true), text: "mains")
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `pending() lists all requests, also with an older struct size`() async throws {
            var manifest = try manifest(granting: [])
            manifest.tasks.append(try TestManifest.task("many.*", "misbehave", "echo", nil))
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run(
                    "submit-many",
                    #"{"prefix":"many.","count":700}"#
                )
                try await daemon.line("took 700, answered 0", LogFilter(run: record.id))
                _ = try await daemon.run("list-pending")
                let line = try await daemon.line(LogFilter(task: "list-pending")) {
                    $0.message.hasPrefix("listed ")
                }
                #expect(line.message.hasPrefix("listed 0 700, 0 700, 700 distinct, first many."))
            }
        }

        // MARK: Ceilings

        @Test(.timeLimit(.minutes(5)))
        func `The request limit of a plugin excludes an operator's requests`() async throws {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.misbehave(
                maxPending: PendingLimits(refresh: 3, processing: 1)
            )
            manifest.tasks.append(try TestManifest.task("many.*", "misbehave", "echo", nil))
            let date = WallClock.now + 3_600_000_000_000
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                for number in 0..<20 {
                    _ = try await daemon.host.submit(
                        Submission(task: "many.operator\(number)", earliestBegin: date)
                    )
                }
                let record = try await daemon.run(
                    "submit-many",
                    #"{"prefix":"many.","count":10}"#
                )
                try await daemon.line("took 3, answered -14", LogFilter(run: record.id))
                let refusal = try await daemon.line { $0.event == "call.refused" }
                #expect(refusal.message.contains("3 pending requests of kind refresh"))
                #expect(refusal.message.contains("`maxPending`"))
            }
            // The daemon knows their plugin after a restart.
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let record = try await daemon.run(
                    "submit-many",
                    #"{"prefix":"many.other","count":1}"#
                )
                try await daemon.line("took 0, answered -14", LogFilter(run: record.id))
                _ = try await daemon.host.submit(
                    Submission(task: "many.further", earliestBegin: date)
                )
                #expect(await daemon.host.pending(task: nil, limit: 100).total == 24)
            }
        }
    }
}
