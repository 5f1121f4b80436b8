// SPDX-License-Identifier: Apache-2.0

package import BghostLinux

/// A reference to an owner of the daemon that another thread may keep.
///
/// The owner is used on the reactor's thread only, and the reference does not keep it alive.
package struct ReactorReference<Owner: AnyObject>: @unchecked Sendable {
    // @unchecked: the owner is touched on the reactor's thread only. The weak reference itself may be
    // copied and released on any thread.

    private weak var owner: Owner?
    private let reactor: Reactor

    package init(_ owner: Owner, on reactor: Reactor) {
        self.owner = owner
        self.reactor = reactor
    }

    /// Calls a function with the owner on the reactor's thread, after what that thread does now.
    ///
    /// Nothing happens if the owner is gone. Calls from one thread keep their order.
    package func perform(_ body: @escaping @Sendable (Owner) -> Void) {
        // The task is not awaited; `body` reports what there is to report.
        Task(executorPreference: reactor) { if let owner { body(owner) } }
    }

    /// Calls a function with the owner at once, if this is the reactor's thread; otherwise as ``perform(_:)``.
    ///
    /// Use it only where the caller holds no lock and expects that the owner changes.
    package func performInline(_ body: @escaping @Sendable (Owner) -> Void) {
        guard reactor.isCurrent else { return perform(body) }
        if let owner { body(owner) }
    }

    /// Calls an asynchronous function with the owner on the reactor's thread, in a later turn.
    ///
    /// It keeps the owner alive until it returns, and continues on the reactor's thread after each
    /// suspension.
    package func performAsync(
        _ body: nonisolated(nonsending) @escaping @Sendable (Owner) async -> Void
    ) {
        // The task is not awaited; `body` reports what there is to report.
        Task(executorPreference: reactor) { if let owner { await body(owner) } }
    }
}
