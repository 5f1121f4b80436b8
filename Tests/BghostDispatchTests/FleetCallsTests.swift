// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostFleetRules
import BghostLinux
import BghostModel
import BghostOwnerSupport
import Dispatch
import Synchronization
import Testing

/// The order of the calls to a fleet that is slow or does not answer.
@Suite(.timeLimit(.minutes(5))) struct FleetCallsTests {
    private enum Call: Equatable, Sendable {
        case renew
        case claim([FleetClaim])
        case release([FleetClaim], FleetRelease)
        case hosts
        case leave
    }

    /// A fleet each of whose calls lasts until the test answers it.
    private final class HeldFleet: FleetLink {
        private let state = Mutex<(calls: [Call], problem: FleetProblem?)>(([], nil))
        private let gate = DispatchSemaphore(value: 0)

        var calls: [Call] { state.withLock(\.calls) }

        /// Answers the call that is under way, and so many after it.
        func answer(_ problem: FleetProblem? = nil, following: Int = 0) {
            state.withLock { $0.problem = problem }
            for _ in 0...following { gate.signal() }
        }

        private func hold(_ call: Call) throws(FleetProblem) {
            state.withLock { $0.calls.append(call) }
            gate.wait()
            if let problem = state.withLock(\.problem) { throw problem }
        }

        func renew(tasks: String) throws(FleetProblem) -> FleetRenewal {
            try hold(.renew)
            return FleetRenewal(sentAt: .zero, open: [])
        }

        func claim(_ claims: [FleetClaim]) throws(FleetProblem) -> [FleetAnswer] {
            try hold(.claim(claims))
            return claims.map { _ in .claimed }
        }

        func release(_ claims: [FleetClaim], _ release: FleetRelease) throws(FleetProblem) {
            try hold(.release(claims, release))
        }

        func hosts() throws(FleetProblem) -> [FleetHost] {
            try hold(.hosts)
            return []
        }

        func setDrained(_ isDrained: Bool, host: String) throws(FleetProblem) -> Bool? { nil }

        func leave() { state.withLock { $0.calls.append(.leave) } }
    }

    /// The calls of a host, and what it heard.
    private final class Host {
        let link = HeldFleet()
        private(set) var answers: [FleetClaim: FleetAnswer] = [:]
        private(set) var renewals: [Result<FleetRenewal, FleetProblem>] = []
        private(set) lazy var calls = FleetCalls(link, on: reactor) { [unowned self] in
            renewals.append($0)
        } answered: { [unowned self] claims, new in
            for (claim, answer) in zip(claims, new) { answers[claim] = answer }
        }
        private let reactor: Reactor

        init(_ reactor: Reactor) { self.reactor = reactor }

        func claim(_ slots: ClosedRange<Int64>) {
            for slot in slots { calls.claim(FleetCallsTests.claim(slot)) }
        }

        /// Waits until so many calls have begun.
        nonisolated(nonsending) func wait(for count: Int) async {
            await ReactorActor.wait { link.calls.count >= count }
        }
    }

    private static let silence = FleetProblem(.unreachable, "the server has not answered for 1 s")

    private static func claim(_ slot: Int64) -> FleetClaim {
        FleetClaim(task: "report", slot: slot, request: RunID(high: 1, low: UInt64(slot)))
    }

    private static func claims(_ slots: ClosedRange<Int64>) -> [FleetClaim] { slots.map(claim) }

    @Test func `The claims of a turn are few calls, and a claim that waits is not sent twice`()
        async throws
    {
        try await ReactorActor.run { actor in
            let host = Host(actor.reactor)
            host.claim(1...300)
            host.claim(1...300)
            host.link.answer(following: 1)
            await ReactorActor.wait { host.answers.count == 300 }
            #expect(
                host.link.calls == [.claim(Self.claims(1...250)), .claim(Self.claims(251...300))]
            )
            await host.calls.leave()
        }
    }

    @Test func `A renewal that is due precedes the claims that wait`() async throws {
        try await ReactorActor.run { actor in
            let host = Host(actor.reactor)
            host.claim(1...1)
            await host.wait(for: 1)
            host.claim(2...400)
            host.calls.renew { "" }
            host.link.answer(following: 3)
            await ReactorActor.wait { host.answers.count == 400 }
            #expect(host.link.calls.count == 4 && host.link.calls[1] == .renew)
            #expect(host.renewals.count == 1)
            await host.calls.leave()
        }
    }

    @Test func `After a call without an answer the others wait for the next renewal`()
        async throws
    {
        try await ReactorActor.run { actor in
            let host = Host(actor.reactor)
            host.claim(1...1)
            await host.wait(for: 1)
            host.calls.release(Self.claim(9), .served)
            host.claim(2...3)
            host.link.answer(Self.silence)
            // An operator's question that waits behind it is answered with what is wrong.
            let hosts = await host.calls.ask { link throws(FleetProblem) in try link.hosts() }
            #expect(hosts == .failure(Self.silence))
            #expect(host.answers == [Self.claim(1): .unknown])
            host.calls.renew { "" }
            host.link.answer(Self.silence)
            await ReactorActor.wait { host.renewals.count == 1 }
            // A later question tries again.
            host.link.answer(Self.silence)
            _ = await host.calls.ask { link throws(FleetProblem) in try link.hosts() }
            host.calls.renew { "" }
            host.link.answer(following: 2)
            await ReactorActor.wait { host.answers.count == 3 }
            #expect(
                host.link.calls == [
                    .claim(Self.claims(1...1)), .renew, .hosts, .renew,
                    .release([Self.claim(9)], .served), .claim(Self.claims(2...3)),
                ]
            )
            await host.calls.leave()
        }
    }

    @Test func `A host that leaves a fleet that hangs waits for one call only`() async throws {
        try await ReactorActor.run { actor in
            let host = Host(actor.reactor)
            host.claim(1...1)
            await host.wait(for: 1)
            host.claim(2...400)
            host.calls.release(Self.claim(9), .served)
            host.calls.renew { "" }
            // It ends after the leave has begun: what ends on the reactor's thread comes after this.
            host.link.answer(Self.silence)
            await host.calls.leave()
            #expect(host.link.calls == [.claim(Self.claims(1...1)), .leave])
            let late = await host.calls.ask { link throws(FleetProblem) in try link.hosts() }
            let leaving = FleetProblem(.unreachable, "this host leaves its fleet now")
            #expect(late == .failure(leaving))
        }
    }

    @Test func `A host that leaves sends the ends of its claims, and no claim`() async throws {
        try await ReactorActor.run { actor in
            let host = Host(actor.reactor)
            host.claim(1...1)
            await host.wait(for: 1)
            host.claim(2...3)
            for slot in 8...9 { host.calls.release(Self.claim(Int64(slot)), .served) }
            host.calls.release(Self.claim(7), .free)
            host.link.answer(following: 2)
            await host.calls.leave()
            #expect(
                host.link.calls == [
                    .claim(Self.claims(1...1)), .release(Self.claims(8...9), .served),
                    .release([Self.claim(7)], .free), .leave,
                ]
            )
        }
    }

    @Test func `Claims and their ends keep their order`() {
        var queue = FleetQueue()
        queue.claim(Self.claim(1))
        queue.claim(Self.claim(2))
        queue.release(Self.claim(1), .free)
        queue.claim(Self.claim(1))
        queue.claim(Self.claim(2))
        // Another request for the same start: a call has each start once.
        let other = FleetClaim(task: "report", slot: 1, request: RunID(high: 2, low: 1))
        queue.claim(other)
        let first = queue.next()
        #expect(first == .claim(Self.claims(1...2)))
        #expect(queue.next() == .release([Self.claim(1)], .free))
        #expect(queue.next() == .claim([Self.claim(1)]))
        #expect(queue.next() == .claim([other]))
        #expect(queue.next() == nil && queue.isEmpty)
        queue.claim(Self.claim(3))
        queue.release(Self.claim(4), .served)
        queue.removeClaims()
        queue.putBack([Self.claim(5)], .served)
        queue.claim(Self.claim(3))
        #expect(queue.next() == .release([Self.claim(5)], .served))
        #expect(queue.next() == .release([Self.claim(4)], .served))
        #expect(queue.next() == .claim([Self.claim(3)]))
    }
}
