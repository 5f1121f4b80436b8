// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// What is known of the starts that one host of the fleet serves.
///
/// It has the requests of such starts that are due or run, so its size is at most the number of such tasks and
/// of their retries.
struct FleetGate: Sendable {
    enum State: Equatable, Sendable {
        /// To be claimed when the lease is valid.
        case wanted
        /// Claimed; the answer is under way.
        case asked
        /// This host serves it while its lease is valid.
        case held
        /// Another host serves it; asked again with each renewal.
        case taken(by: String)
        /// Another host has served it.
        case served(by: String)
        /// This host is drained and gets no start; asked again with each renewal.
        case drained
    }

    struct Start: Sendable {
        let claim: FleetClaim
        var state: State
    }

    private(set) var starts: [RunID: Start] = [:]
    /// Until when runs may start; always, until the host says otherwise, as in simulations.
    var validUntil: MonotonicInstant = .never
    /// Why the lease is not valid.
    var problem = "the fleet has not answered in time"
    /// Since when the lease is not valid, Unix nanoseconds.
    var lostAt: Int64?
    /// The time of the event that is handled.
    var now: MonotonicInstant = .zero
    private var claims: [FleetClaim] = []

    var isValid: Bool { now < validUntil }

    /// The host that serves or has served the start of a request; `nil` if it is this one or unknown.
    func server(of request: RunID) -> String? {
        switch starts[request]?.state {
        case .taken(let host), .served(let host): host
        default: nil
        }
    }

    func isServed(_ request: RunID) -> Bool {
        if case .served = starts[request]?.state { true } else { false }
    }

    /// Records that a start is due, and claims it if the lease is valid.
    mutating func want(_ claim: FleetClaim) {
        starts[claim.request] = Start(claim: claim, state: isValid ? .asked : .wanted)
        if isValid { claims.append(claim) }
    }

    /// Forgets what was claimed before the lease ended: another host may serve it now.
    mutating func forgetClaims() {
        for (request, start) in starts where start.state == .held || start.state == .asked {
            starts[request]?.state = .wanted
        }
    }

    /// Claims all that this host does not have.
    mutating func claimAll() {
        for (request, start) in starts {
            switch start.state {
            case .wanted, .drained: starts[request]?.state = .asked
            case .taken: break
            case .asked, .held, .served: continue
            }
            claims.append(start.claim)
        }
    }

    mutating func set(_ state: State, of request: RunID) { starts[request]?.state = state }

    /// Removes a request that no longer waits or runs.
    mutating func remove(_ request: RunID) -> Start? { starts.removeValue(forKey: request) }

    /// The claims to make since the last call, in the order of their tasks and times.
    mutating func takeClaims() -> [FleetClaim] {
        guard !claims.isEmpty else { return [] }
        defer { claims = [] }
        return claims.sorted { ($0.task, $0.slot, $0.request) < ($1.task, $1.slot, $1.request) }
    }
}
