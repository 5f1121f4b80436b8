// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostControl
import BghostLinux
import BghostModel
import BghostTestSupport
import Logging
import ServiceLifecycle
import Testing

/// A control server and a dashboard of the same host, each at an address of its own.
struct DashboardServing: Sendable {
    let host: TestHost
    let dashboard: Dashboard
    let socketPath: String
    let port: Int

    /// Serves for the duration of the closure, and then until both have shut down in order.
    static func with(
        hosts: [String] = [],
        limits: ControlLimits = ControlLimits(),
        onVerb: @escaping @Sendable (ControlVerb) -> Void = { _ in },
        _ body: @escaping @Sendable (DashboardServing) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let address = try #require(LoopbackAddress("127.0.0.1:0"))
        let dashboard = Dashboard(DashboardSettings(listen: address, hosts: hosts))
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await Serving.with(dashboard: dashboard, in: folder) { serving in
            let server = DashboardServer(
                host: serving.host.control,
                dashboard: dashboard,
                limits: limits,
                onVerb: onVerb,
                onReady: { _ in isReady.finish() },
                onFailure: { Issue.record("\($0)") }
            )
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [.init(service: server)],
                    logger: logger
                )
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    // Also if it never comes so far: nothing may wait for it then.
                    defer { isReady.finish() }
                    try await onPool { try await group.run() }
                }
                for await _ in ready {}
                let result: Result<Void, any Error>
                do {
                    let port = try #require(dashboard.port)
                    let own = DashboardServing(
                        host: serving.host,
                        dashboard: dashboard,
                        socketPath: serving.socketPath,
                        port: port
                    )
                    try await body(own)
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                try result.get()
            }
        }
    }

    /// Asks at the dashboard's address as its pages do.
    ///
    /// - Parameters:
    ///   - line: the method and the path.
    ///   - fields: further fields; one of them replaces the usual one of its name.
    func answer(
        _ line: String,
        token: String? = nil,
        fields: [String] = [],
        body: String? = nil
    ) async throws -> String {
        let names = Set(fields.map { $0.prefix { $0 != ":" }.lowercased() })
        var all = fields
        if !names.contains("host") { all.append("Host: 127.0.0.1:\(port)") }
        if let token { all.append("Authorization: Bearer \(token)") }
        if let body {
            all.append("Content-Type: application/json")
            all.append("Content-Length: \(body.utf8.count)")
        }
        let text = "\(line) HTTP/1.1\r\n\(all.joined(separator: "\r\n"))\r\n\r\n\(body ?? "")"
        let port = port
        return try await onThread {
            let connection = try RawConnection(port: port)
            connection.send(text)
            return connection.receiveAnswer()
        }
    }

    /// Begins a session of a user with a role.
    func session(_ role: ControlRole = .operate, uid: UInt32 = 4711) throws -> String {
        let caller = Caller(peer: PeerCredentials(pid: 1, uid: uid, gid: 1), role: role)
        let link = try dashboard.ticket(for: caller).url
        let ticket = try #require(link.split(separator: "#").last)
        return try dashboard.begin(ticket: String(ticket)).0.token
    }
}
