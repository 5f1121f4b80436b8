// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux
package import BghostModel
import Synchronization

/// A fleet that answers as a test says; `BghostFleetTests` has a real one.
///
/// It answers renewals with what the test has left for it, the last answer again and again.
package final class ScriptedFleet: FleetLink {
    private struct State {
        var renewals: [Result<[FleetClaim], FleetProblem>]
        var claims: [FleetClaim] = []
        var releases: [FleetRelease] = []
        var renewed = 0
        var hasLeft = false
        var tasks = ""
        var hosts: [FleetHost] = []
        var drainsAsked: [String] = []
        var problem: FleetProblem?
    }

    private let state: Mutex<State>
    private let name: String
    private let slept: @Sendable () -> UInt64

    /// - Parameters:
    ///   - name: the host that has this link.
    ///   - slept: how long the machine has slept, nanoseconds.
    package init(
        name: String = "one",
        _ renewals: [Result<[FleetClaim], FleetProblem>] = [.success([])],
        slept: @escaping @Sendable () -> UInt64 = { 0 }
    ) {
        state = Mutex(State(renewals: renewals))
        self.name = name
        self.slept = slept
    }

    package var renewed: Int { state.withLock(\.renewed) }
    package var claims: [FleetClaim] { state.withLock(\.claims) }
    package var releases: [FleetRelease] { state.withLock(\.releases) }
    package var hasLeft: Bool { state.withLock(\.hasLeft) }
    /// The tasks of the last renewal.
    package var tasks: String { state.withLock(\.tasks) }
    /// The names for which a drain was asked.
    package var drainsAsked: [String] { state.withLock(\.drainsAsked) }

    /// Sets the hosts of the fleet.
    package func show(_ hosts: [FleetHost]) { state.withLock { $0.hosts = hosts } }

    /// Sets why questions for the hosts fail; `nil` answers them.
    package func refuseHosts(_ problem: FleetProblem?) { state.withLock { $0.problem = problem } }

    package func renew(tasks: String) throws(FleetProblem) -> FleetRenewal {
        let sentAt = Monotonic.now + slept()
        let answer = state.withLock { state in
            state.renewed += 1
            state.tasks = tasks
            return state.renewals.count > 1 ? state.renewals.removeFirst() : state.renewals[0]
        }
        let isDrained = state.withLock { state in
            state.hosts.contains { $0.name == name && $0.drainedAt != nil }
        }
        return FleetRenewal(sentAt: sentAt, open: try answer.get(), isDrained: isDrained)
    }

    package func claim(_ claims: [FleetClaim]) throws(FleetProblem) -> [FleetAnswer] {
        state.withLock { $0.claims += claims }
        return claims.map { _ in .claimed }
    }

    package func release(_ claims: [FleetClaim], _ release: FleetRelease) throws(FleetProblem) {
        // Like the renewals, the first one fails if their next answer does.
        let problem: FleetProblem? = state.withLock { state in
            if case .failure(let problem) = state.renewals[0] { return problem }
            state.releases += claims.map { _ in release }
            return nil
        }
        if let problem { throw problem }
    }

    package func hosts() throws(FleetProblem) -> [FleetHost] {
        if let problem = state.withLock(\.problem) { throw problem }
        return state.withLock(\.hosts)
    }

    package func setDrained(_ isDrained: Bool, host: String) throws(FleetProblem) -> Bool? {
        // Like a release, it fails if the next renewal does.
        let answer: Result<Bool?, FleetProblem> = state.withLock { state in
            state.drainsAsked.append(host)
            if case .failure(let problem) = state.renewals[0] { return .failure(problem) }
            guard let index = state.hosts.firstIndex(where: { $0.name == host }) else {
                return .success(nil)
            }
            let isChanged = (state.hosts[index].drainedAt != nil) != isDrained
            state.hosts[index].drainedAt = isDrained ? 1 : nil
            let drained: FleetHost.State = state.hosts[index].claims > 0 ? .draining : .drained
            state.hosts[index].state = isDrained ? drained : .live
            return .success(isChanged)
        }
        return try answer.get()
    }

    package func leave() { state.withLock { $0.hasLeft = true } }
}
