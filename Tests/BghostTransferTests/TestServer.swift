// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Runs a test against a server on a free port of 127.0.0.1 that answers every request the same way.
func withServer(
    _ respond: @escaping @Sendable (Request) async throws -> Response,
    test: @Sendable (_ port: UInt16) async throws -> Void
) async throws {
    let (ports, running) = AsyncStream.makeStream(of: UInt16.self)
    var logger = Logger(label: "test server")
    logger.logLevel = .critical
    let application = Application(
        responder: CallbackResponder<BasicRequestContext> { request, _ in
            try await respond(request)
        },
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { running.yield(UInt16($0.localAddress?.port ?? 0)) },
        logger: logger
    )
    let services = ServiceGroup(services: [application], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { running.finish() }
            try await onPool { try await services.run() }
        }
        for await port in ports {
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await test(port))
            } catch {
                outcome = .failure(error)
            }
            // Cancelling it instead would trap in NIO if a connection is just being accepted.
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return try outcome.get()
        }
        try await group.waitForAll()
    }
}

/// Something that happens once and that one task waits for.
struct Event: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func occur() {
        continuation.finish()
    }

    /// Returns once it has occurred, or the waiting task is cancelled.
    func wait() async {
        for await _ in stream {}
    }
}

/// A socket at 127.0.0.1 that never answers.
final class SilentSocket: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter accepts: whether connections are accepted, and then left unanswered. If not, they
    ///   are refused, and the port stays taken so that no other server can answer there.
    init(accepts: Bool) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        guard code == 0, !accepts || listen(descriptor, 8) == 0 else {
            throw SystemCallError(call: "listen", code: errno)
        }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
