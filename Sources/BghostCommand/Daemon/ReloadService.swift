// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import ServiceLifecycle
internal import UnixSignals

/// Makes the host reload its manifest at each SIGHUP; the log contains the result.
///
/// The service group requires a description.
struct ReloadService: Service, CustomStringConvertible {
    let host: Host
    let log: HostLog
    /// Trapped before the daemon says that it is ready: until then, a SIGHUP ends it.
    let signals: UnixSignalsSequence

    var description: String { "the reload on SIGHUP" }

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            // First, since a program that has moved the log's file needs it with a wrong manifest too.
            log.archive?.reopen()
            // The host logs the reason for a refusal; a signal has no response.
            _ = try? await host.auditedReload(.signal, target: "SIGHUP") { try await $0.reload() }
        }
    }
}

extension Host {
    /// Reloads the manifest with rows of the audit before and after it.
    nonisolated func auditedReload(
        _ way: AuditWay,
        target: String,
        _ reload: @Sendable (Host) async throws -> ReloadReport
    ) async throws -> ReloadReport {
        let entry = AuditEntry(
            at: WallClock.now,
            AuditActor(way),
            verb: "reload",
            target: target,
            status: .begun
        )
        return try await audited(
            entry,
            now: { WallClock.now },
            code: { FaultCode.text(of: $0) }
        ) { try await reload(self) }
    }
}
