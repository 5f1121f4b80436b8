// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostLinux

/// An actor on the thread of a real reactor, as the host is: owners are made and used in `run`.
package actor ReactorActor: ReactorClient {
    package nonisolated let reactor: Reactor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        reactor.asUnownedSerialExecutor()
    }

    private init() throws {
        reactor = try Reactor()
    }

    /// Runs a function on the reactor's thread.
    package static func run<Answer: Sendable>(
        _ body: @Sendable (isolated ReactorActor) async throws -> Answer
    ) async throws -> Answer {
        let actor = try ReactorActor()
        try actor.reactor.start(client: actor)
        defer { actor.reactor.stop() }
        return try await body(actor)
    }

    package nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {}
    package nonisolated func deadlinePassed(now: MonotonicInstant) {}
    package nonisolated func usedCPU(_ value: Int32) {}
    package nonisolated func turnEnded() {}
}

extension ReactorActor {
    /// Lets the reactor handle other events until a condition holds; the test's time limit bounds it.
    package static nonisolated(nonsending) func wait(until condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}
