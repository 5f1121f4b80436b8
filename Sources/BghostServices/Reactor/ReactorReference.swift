// SPDX-License-Identifier: Apache-2.0

package import BghostLinux

/// A reference to an owner of the daemon that another thread may keep.
///
/// The owner is used on the reactor's thread only. The reference keeps nothing alive, but each call does, as
/// long as it takes: the owner and the reactor's client, which has the owners that this one refers to. A call
/// may come after the end of the daemon: the thread that it waited for was busy with a disk.
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
        Task(executorPreference: reactor) { now(body) }
    }

    private func now(_ body: (Owner) -> Void) {
        guard let lifetime = reactor.lifetime, let owner else { return }
        withExtendedLifetime(lifetime) { body(owner) }
    }

    /// Calls a function with the owner at once, if this is the reactor's thread; otherwise as ``perform(_:)``.
    ///
    /// Use it only where the caller holds no lock and expects that the owner changes.
    package func performInline(_ body: @escaping @Sendable (Owner) -> Void) {
        guard reactor.isCurrent else { return perform(body) }
        now(body)
    }

    /// Calls an asynchronous function with the owner on the reactor's thread, in a later turn.
    ///
    /// It continues on the reactor's thread after each suspension.
    package func performAsync(
        _ body: nonisolated(nonsending) @escaping @Sendable (Owner) async -> Void
    ) {
        // The task is not awaited; `body` reports what there is to report.
        Task(executorPreference: reactor) {
            guard let lifetime = reactor.lifetime, let owner else { return }
            await body(owner)
            withExtendedLifetime(lifetime) {}
        }
    }
}
