// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostPolicy
import BghostServices
import BghostStore
import Testing

extension Integration {
    /// What readers of the log and of the audit see while rows of the audit wait for the disk.
    @Suite struct AuditOrderTests {
        private static func reload(_ host: Host) async throws -> ReloadReport {
            let entry = AuditEntry(
                at: 1,
                AuditActor(.files),
                verb: "reload",
                target: "tasks.json",
                status: .begun
            )
            return try await host.audited(
                entry,
                now: { 2 },
                code: { FaultCode.text(of: $0) }
            ) { try await host.reloadFiles() }
        }

        private static func question(_ limit: Int = 9) -> AuditQuestion {
            var query = AuditQuery(limit: limit)
            query.onlyChanges = true
            return AuditQuestion(query)
        }

        @Test(.timeLimit(.minutes(5)), arguments: [true, false])
        func `The log says a reload once the audit has its last row`(isGood: Bool) async throws {
            let store = HeldStore()
            let manifest = try TestManifest.misbehave()
            let event = isGood ? "manifest.reloaded" : "manifest.refused"
            try await withDaemon(
                manifest,
                adjust: {
                    $0.openStore = { _ in store }
                    $0.rereadManifest = {
                        RereadManifest(manifest: isGood ? manifest : nil, diagnostics: [])
                    }
                }
            ) { daemon in
                store.hold(rowOf: "reload", isGood ? .done : .failed)
                let reload = Task { try await Self.reload(daemon.host) }
                await store.untilHeld()
                let events = daemon.log.entries(matching: LogFilter(), limit: 8192).map(\.event)
                #expect(!events.contains(event))
                store.letGo()
                _ = await reload.result
                try await daemon.line { $0.event == event }
                let page = try await daemon.host.audit(AuditQuestion(AuditQuery(limit: 9)))
                #expect(page.rows.first?.entry.status == (isGood ? .done : .failed))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A reload ends and is logged while the disk hangs`() async throws {
            let store = HeldStore()
            let manifest = try TestManifest.misbehave()
            try await withDaemon(
                manifest,
                adjust: {
                    $0.openStore = { _ in store }
                    $0.timeouts.auditRow = 1_000_000
                    $0.rereadManifest = { RereadManifest(manifest: manifest, diagnostics: []) }
                }
            ) { daemon in
                store.hold(rowOf: "reload", .done)
                _ = try await Self.reload(daemon.host)
                try await daemon.line { $0.event == "manifest.reloaded" }
                store.letGo()
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A question is refused while the disk hangs at the row of the start`() async throws {
            func manifest(_ every: String) throws -> Manifest {
                var manifest = try TestManifest.misbehave()
                manifest.written = WrittenDefinitions([
                    WrittenDefinition(.task, "echo", [("every", every)])
                ])
                return manifest
            }
            let store = HeldStore()
            let before = KeptManifest(try manifest("1h")).text
            store.commit([.manifest(before)], isAwaited: false, onFailure: .retry) { _ in }
            store.hold(rowOf: "start", .done)
            try await withDaemon(
                try manifest("2h"),
                adjust: {
                    $0.openStore = { _ in store }
                    $0.timeouts.auditRow = 1_000_000
                }
            ) { daemon in
                await store.untilHeld()
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await daemon.host.audit(Self.question())
                }
                #expect(refusal?.code == .unavailable)
                #expect(refusal?.message.contains("the store does not answer") == true)
                store.letGo()
                try await daemon.line { $0.event == "manifest.changed" }
                let page = try await daemon.host.audit(Self.question())
                #expect(page.rows.map(\.entry.verb) == ["start"])
            }
        }
    }
}
