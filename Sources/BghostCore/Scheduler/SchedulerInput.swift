// SPDX-License-Identifier: Apache-2.0

/// What happens to a scheduler: each of its methods with what it was given, as data.
///
/// A journal of these, with their moments, is all that its decisions depend on.
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
    case withdrawAll(String?)
    case redriven([Request])
    case switched(plugin: Int, off: String?)
    case forgive(String)
    case used(String)
    case forgetUses(of: String)
    /// The manifest is named by its fingerprint: it may have secrets in it.
    case reloaded(manifest: String, slots: Int, replacing: [String])

    /// One of them, and when it happened.
    package struct Entry: Codable, Sendable {
        package let at: Moment
        package let input: SchedulerInput
    }
}

extension Scheduler {
    /// Keeps what happens from now on, for `takeInputs`.
    package mutating func keepInputs() { inputs = [] }

    /// What has happened since this was last called.
    package mutating func takeInputs() -> [SchedulerInput.Entry] {
        guard let taken = inputs else { return [] }
        inputs?.removeAll(keepingCapacity: true)
        return taken
    }

    /// Keeps an input, where somebody wants them.
    mutating func note(_ input: @autoclosure () -> SchedulerInput, at now: Moment) {
        guard inputs != nil else { return }
        inputs?.append(SchedulerInput.Entry(at: now, input: input()))
    }
}
