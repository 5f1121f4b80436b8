// SPDX-License-Identifier: Apache-2.0

import BghostLinux

/// An actor on the thread of a real reactor, as the host is: owners are made and used in `run`.
actor ReactorActor: ReactorClient {
    nonisolated let reactor: Reactor

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        reactor.asUnownedSerialExecutor()
    }

    private init() throws {
        reactor = try Reactor()
    }

    /// Runs a function on the reactor's thread.
    static func run<Answer: Sendable>(
        _ body: @Sendable (isolated ReactorActor) async throws -> Answer
    ) async throws -> Answer {
        let actor = try ReactorActor()
        try actor.reactor.start(client: actor)
        defer { actor.reactor.stop() }
        return try await body(actor)
    }

    nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {}
    nonisolated func deadlinePassed(now: UInt64) {}
    nonisolated func usedCPU(_ value: Int32) {}
    nonisolated func turnEnded() {}
}

extension ReactorActor {
    /// Lets the reactor handle other events until a condition holds; the test's time limit bounds it.
    static nonisolated(nonsending) func wait(until condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}
