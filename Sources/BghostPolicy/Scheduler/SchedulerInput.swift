// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
package import BghostModel

/// The events of a scheduler: each of its methods with its arguments, as data.
///
/// All its decisions depend only on a journal of these events with their times.
package enum SchedulerInput: Codable, Sendable {
    case begin(incarnation: UInt32)
    case tookOverSwitch(name: String, reason: String)
    case tookOverMemory(TaskMemory)
    case tookOverRequest(Request)
    case tookOverRun(RunRecord, of: Request)
    case tookOverUse(RuntimeUse)
    case start
    case drain
    case dispatch
    case datesCame
    case clockWasSet
    case clockLooked(ClockDoubt?)
    case storeHolds(String?)
    case accept(Submission, isSimulated: Bool, by: Submitter)
    case wake(String, id: RunID, earliest: Int64?)
    case arrived(RunID, isStored: Bool)
    case ended(RunTicket, RunFinish)
    case couldNotBegin(RunTicket, message: String)
    case shortage(RunTicket, message: String)
    case factsChanged(probes: [String], facts: [Fact], changed: RequirementSet)
    case problem(plugin: Int, text: String?)
    case loaded(plugin: Int, serial: [String])
    case withdraw(String)
    case withdrawAll([String])
    case redriven([Request])
    case switched(plugin: Int, off: String?)
    case clearThrottle(String)
    case used(String)
    case forgetUses(of: String)
    /// The manifest is identified by its fingerprint, since it may contain secrets.
    case reloaded(manifest: String, slots: Int, replacing: [String])

    /// An event with its time.
    package struct Entry: Codable, Sendable {
        package let at: Moment
        package let input: SchedulerInput
    }
}

extension Scheduler {
    /// Starts recording events for `takeInputs`.
    package mutating func keepInputs() { inputs = [] }

    /// Returns the events since the last call.
    package mutating func takeInputs() -> [SchedulerInput.Entry] {
        guard let taken = inputs else { return [] }
        inputs?.removeAll(keepingCapacity: true)
        return taken
    }

    /// Records an event, if recording is enabled.
    mutating func note(_ input: @autoclosure () -> SchedulerInput, at now: Moment) {
        guard inputs != nil else { return }
        inputs?.append(SchedulerInput.Entry(at: now, input: input()))
    }
}
