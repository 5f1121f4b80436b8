// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The claims, and the ends of claims, that a host has yet to send to its fleet, in their order.
///
/// One call sends many: with a call for each, hundreds of starts at one time would take longer than a lease.
package struct FleetQueue: Sendable {
    package enum Call: Equatable, Sendable {
        /// Each start once.
        case claim([FleetClaim])
        case release([FleetClaim], FleetRelease)
    }

    private struct Start: Hashable {
        let task: String
        let slot: Int64

        init(_ claim: FleetClaim) { (task, slot) = (claim.task, claim.slot) }
    }

    /// The most claims of a call, which must be answered within a quarter of the shortest lease.
    package static let claimsMax = 250

    private var calls: [Call] = []
    /// The claims that wait, unless an end of theirs follows.
    private var wanted: Set<FleetClaim> = []
    /// The starts of the last call, if it has claims.
    private var starts: Set<Start> = []

    package init() {}

    package var isEmpty: Bool { calls.isEmpty }

    /// Adds a claim unless it waits already.
    package mutating func claim(_ claim: FleetClaim) {
        guard wanted.insert(claim).inserted else { return }
        let start = Start(claim)
        if case .claim(var claims) = calls.last, claims.count < Self.claimsMax,
            !starts.contains(start)
        {
            calls.removeLast()
            claims.append(claim)
            calls.append(.claim(claims))
        } else {
            starts = []
            calls.append(.claim([claim]))
        }
        starts.insert(start)
    }

    /// Adds the end of a claim.
    package mutating func release(_ claim: FleetClaim, _ release: FleetRelease) {
        wanted.remove(claim)
        if case .release(var claims, release) = calls.last, claims.count < Self.claimsMax {
            calls.removeLast()
            claims.append(claim)
            calls.append(.release(claims, release))
        } else {
            calls.append(.release([claim], release))
        }
    }

    /// Removes the first call; `nil` if there is none.
    package mutating func next() -> Call? {
        guard !calls.isEmpty else { return nil }
        let call = calls.removeFirst()
        if case .claim(let claims) = call { wanted.subtract(claims) }
        return call
    }

    /// Puts ends of claims that the fleet does not have before all else.
    package mutating func putBack(_ claims: [FleetClaim], _ release: FleetRelease) {
        calls.insert(.release(claims, release), at: 0)
    }

    /// Removes the claims: what is known of them may be old when they are sent.
    package mutating func removeClaims() {
        calls.removeAll { if case .claim = $0 { true } else { false } }
        wanted = []
    }
}
