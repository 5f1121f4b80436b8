// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostControl
import BghostTestSupport
import Logging
import ServiceLifecycle
import Synchronization
import Testing

extension ControlLimits {
    /// A client and a server of the same test may have to wait for a processor.
    static var patient: ControlLimits {
        var limits = ControlLimits()
        limits.receiveTime = .seconds(3600)
        limits.idleTime = .seconds(3600)
        limits.stallTime = .seconds(3600)
        limits.answerTime = .seconds(3600)
        return limits
    }
}

/// A control server on a socket in a folder of its own.
struct Serving: Sendable {
    let host: TestHost
    let folder: TemporaryDirectory
    let socketPath: String

    /// Serves for the duration of the closure, and then until the server has shut down in order.
    ///
    /// - Parameter host: is ended afterwards; `nil` starts one.
    static func with(
        _ host: TestHost? = nil,
        notifications: (any NotificationControl)? = nil,
        dashboard: Dashboard? = nil,
        limits: ControlLimits = .patient,
        access: ControlAccess = ControlAccess(),
        onVerb: @escaping @Sendable (ControlVerb) -> Void = { _ in },
        in folder: TemporaryDirectory? = nil,
        _ body: @escaping @Sendable (Serving) async throws -> Void
    ) async throws {
        let folder = try folder ?? TemporaryDirectory()
        let host: TestHost = if let host { host } else { try await .start() }
        let serving = Serving(
            host: host,
            folder: folder,
            socketPath: folder.file("control.sock")
        )
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let onReady: @Sendable () async -> Void = { isReady.finish() }
        let undocumented = Mutex<Set<String>>([])
        var server = ControlServer(
            host: host.control,
            notifications: notifications,
            dashboard: dashboard,
            socketPath: serving.socketPath,
            limits: limits,
            access: access,
            onVerb: onVerb,
            onReady: onReady
        )
        server.onFault = { endpoint, code in
            guard !(endpoint.codes + APIReference.common).contains(code) else { return }
            undocumented.withLock { _ = $0.insert("\(endpoint.rawValue): \(code)") }
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    // Also if the server never starts: the waiting test must not hang.
                    defer { isReady.finish() }
                    try await onPool { try await group.run() }
                }
                for await _ in ready {}
                do {
                    try await body(serving)
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await host.end()
        try result.get()
        let missing = undocumented.withLock { $0.sorted() }
        #expect(missing.isEmpty, "add these to `codes` of the endpoint")
    }

    /// Asks with the real client.
    func ask<Result: Sendable>(
        _ body: (ControlClient) async throws -> Result
    ) async throws -> Result {
        try await ControlClient.with(socketPath: socketPath, body)
    }
}

/// The fault that a closure throws; records an issue if it throws none.
func fault(_ body: () async throws -> Void) async -> ControlFault? {
    do {
        try await body()
        Issue.record("nothing was thrown")
    } catch let fault as ControlFault {
        return fault
    } catch {
        Issue.record("not a fault: \(error)")
    }
    return nil
}
