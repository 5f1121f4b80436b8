// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Whether this host may declare another one dead.
///
/// The lease of a host ends in the store also while the store itself did not answer: then all hosts look dead,
/// and the first one that comes back would end the others. So a host may do that only after it could renew
/// its own lease all the time for longer than a lease, while the clock of the store went as its own. Each call
/// is O(1).
package struct ReapRule: Sendable {
    /// An answered renewal.
    private struct Renewal: Sendable {
        let sentAt: MonotonicInstant
        /// Unix nanoseconds.
        let storeClock: Int64
    }

    /// The length of the lease, nanoseconds.
    private let lease: UInt64
    private var last: Renewal?
    /// The renewal since which none was missing and both clocks agree.
    private var steady: Renewal?

    /// - Parameter lease: nanoseconds.
    package init(lease: UInt64) { self.lease = lease }

    /// Records an answered renewal.
    ///
    /// - Parameters:
    ///   - sentAt: when it was sent, in time since boot.
    ///   - storeClock: the clock of the store at the renewal, Unix nanoseconds.
    package mutating func renewed(sentAt: MonotonicInstant, storeClock: Int64) {
        let renewal = Renewal(sentAt: sentAt, storeClock: storeClock)
        if let last, let steady {
            let passed = sentAt.since(steady.sentAt)
            let passedInStore = storeClock.subtractingClamped(steady.storeClock)
            // Small jumps add up, and a lease that ends early has to leave its host the time to kill its runs.
            let difference = passedInStore.subtractingClamped(Int64(clamping: passed))
            let isSteady =
                sentAt.since(last.sentAt) <= lease / 2 && difference.magnitude <= lease / 10
            if !isSteady { self.steady = renewal }
        } else {
            steady = renewal
        }
        last = renewal
    }

    /// Records that this host was refused; it has to register again.
    package mutating func refused() { (last, steady) = (nil, nil) }

    /// Whether this host may declare hosts dead whose leases have ended in the store.
    package func mayReap(now: MonotonicInstant) -> Bool {
        guard let last, let steady else { return false }
        let isFresh = now.since(last.sentAt) <= lease / 4
        return isFresh && last.sentAt.since(steady.sentAt) >= lease / 10 * 11
    }
}
