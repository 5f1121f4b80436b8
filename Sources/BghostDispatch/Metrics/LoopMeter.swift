// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostLinux
package import BghostMetrics

/// Measures how long the reactor's thread works between two looks at its deadlines.
///
/// A deadline that passes meanwhile is late by as much. It includes the time for which other programs had
/// the processor. The host owns it. Use it on the reactor's thread only; a turn costs one look at the clock.
package final class LoopMeter {
    private let reactor: Reactor
    package private(set) var turns = DurationHistogram()

    package init(_ reactor: Reactor) { self.reactor = reactor }

    /// Measures the turn that ends; call it after all work of the turn.
    package func turnEnded() { turns.record(Monotonic.now.since(reactor.awakeSince)) }
}
