// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// Something that tells facts of the machine.
///
/// It is used on the reactor's thread only, and nothing in it may block that. What it learns it tells
/// its desk, during a call or later through the desk's inbox.
package protocol FactSource: AnyObject {
    /// What it tells of.
    var requirements: RequirementSet { get }
    /// When it wants `look` next, monotonic nanoseconds; `.max` for never.
    var deadline: UInt64 { get }
    /// Begins.
    ///
    /// - Parameter now: monotonic nanoseconds, as everywhere here.
    func start(_ desk: FactDesk, now: UInt64)
    /// Has it take a fresh look at what it can look at.
    ///
    /// That is at its deadline, or a little before when there is a wake-up anyway, or because
    /// something is about to be decided by what it told last.
    func look(now: UInt64)
    /// A descriptor that it watches is ready.
    func ready(_ token: UInt64, _ readiness: Readiness, now: UInt64)
    /// Something came for it through the inbox; readings have been told already.
    ///
    /// After `stop` too, so that what was under way can be ended.
    func received(_ message: FactMessage, now: UInt64)
    /// Ends it and gives back all that it holds.
    func stop()
}

/// What comes for a source from another thread.
package enum FactMessage: Sendable {
    case readings([FactReading])
    case spawned(Result<Spawner.Spawned, SystemError>)
}

extension Readiness {
    /// What a pressure trigger fires.
    package static let priority = Readiness(rawValue: 0x002)
}
