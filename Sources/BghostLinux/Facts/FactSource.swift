// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts

/// A source of facts about the machine.
///
/// It is used on the reactor's thread only and must not block it. It reports readings to its
/// `FactSourceContext` during a call, or later through the inbox.
package protocol FactSource: AnyObject {
    /// The requirements that its facts belong to.
    var requirements: RequirementSet { get }
    /// When the source wants the next call of `look`; `never` for no call.
    var deadline: MonotonicInstant { get }
    /// Starts the source.
    func start(_ context: FactSourceContext, now: MonotonicInstant)
    /// Asks the source to read its facts again, as far as it can.
    ///
    /// It is called at the source's deadline, slightly earlier if the reactor is awake anyway, or
    /// when a decision is about to depend on the source's last reading.
    func poll(now: MonotonicInstant)
    /// Called when a watched descriptor is ready.
    func ready(_ token: UInt64, _ readiness: Readiness, now: MonotonicInstant)
    /// Called when a message for the source has arrived; its readings have already been recorded.
    ///
    /// It is also called after `stop`, so that the source can end pending work.
    func received(_ message: FactMessage, now: MonotonicInstant)
    /// Stops the source and releases its resources.
    func stop()
}

/// A message from another thread to a source.
package enum FactMessage: Sendable {
    case readings([FactReading])
    case spawned(Result<Spawner.Spawned, SystemError>)
}

extension Readiness {
    /// The readiness that a pressure trigger reports (EPOLLPRI).
    static let priority = Readiness(rawValue: 0x002)
}
