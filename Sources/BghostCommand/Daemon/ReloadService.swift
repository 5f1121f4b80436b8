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

    var description: String { "the reload on SIGHUP" }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            // First, since a program that has moved the log's file needs it with a wrong manifest too.
            log.archive?.reopen()
            let entry = AuditEntry(
                at: WallClock.now,
                AuditActor(.signal),
                verb: "reload",
                target: "SIGHUP",
                status: .begun
            )
            // The host logs the reason for a refusal; a signal has no response.
            _ = try? await host.audited(
                entry,
                now: { WallClock.now },
                code: { FaultCode.text(of: $0) }
            ) { try await host.reload() }
        }
    }
}
