// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
package import BghostModel

/// The events of a scheduler: each of its methods with its arguments, as data.
///
/// All its decisions depend only on a journal of these events with their times.
package enum SchedulerInput: Codable, Sendable {
    case begin(incarnation: UInt32)
    case restoredDisabledPlugin(name: String, reason: String)
    case restoredTask(TaskMemory)
    case restoredRequest(Request)
    case restoredRun(RunRecord, of: Request)
    case restoredRuntimeUse(RuntimeUse)
    case start
    case drain
    case dispatch
    case timerFired
    case clockWasSet
    case clockChecked(ClockDoubt?)
    case storeBlocked(String?)
    case accept(Submission, isManual: Bool, by: Submitter)
    case wake(String, id: RunID, earliest: Int64?)
    case submissionFinished(RunID, isStored: Bool)
    case runEnded(RunHandle, RunFinish)
    case startFailed(RunHandle, message: String)
    case shortage(RunHandle, message: String)
    case factsChanged(probes: [String], facts: [Fact], changed: RequirementSet)
    case problem(plugin: Int, text: String?)
    case loaded(plugin: Int, serial: [String])
    case withdraw(String)
    case withdrawAll([String])
    case redriven([Request])
    case switched(plugin: Int, off: String?)
    case paused(Pause)
    case resumed(PauseTarget)
    case restoredPause(Pause)
    case clearThrottle(String)
    case resultUsed(String)
    case forgetUses(of: String)
    case fleetRenewed(until: MonotonicInstant)
    case fleetLost(String)
    case fleetAnswered(FleetClaim, FleetAnswer)
    case fleetClaims([FleetClaim])
    case partition(PartitionEvent)
    /// The manifest is identified by its fingerprint, since it may contain secrets.
    ///
    /// `keeping` is missing in the recordings of older versions, which kept all plugins.
    case reloaded(manifest: String, slots: Int, replacing: [String], keeping: [Int]?)

    /// The keys in recordings: some are the former names of their cases, so that older recordings stay
    /// readable.
    private enum CodingKeys: String, CodingKey {
        case begin
        case restoredDisabledPlugin = "tookOverSwitch"
        case restoredTask = "tookOverMemory"
        case restoredRequest = "tookOverRequest"
        case restoredRun = "tookOverRun"
        case restoredRuntimeUse = "tookOverUse"
        case start, drain, dispatch
        case timerFired = "datesCame"
        case clockWasSet
        case clockChecked = "clockLooked"
        case storeBlocked = "storeHolds"
        case accept, wake
        case submissionFinished = "arrived"
        case runEnded = "ended"
        case startFailed = "couldNotBegin"
        case shortage, factsChanged, problem, loaded, withdraw, withdrawAll, redriven, switched
        case clearThrottle, paused, resumed, restoredPause
        case resultUsed = "used"
        case forgetUses, reloaded
        case fleetRenewed, fleetLost, fleetAnswered, fleetClaims, partition
    }

    private enum AcceptCodingKeys: String, CodingKey {
        case _0
        case isManual = "isSimulated"
        case by
    }

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
    mutating func recordInput(_ input: @autoclosure () -> SchedulerInput, at now: Moment) {
        guard inputs != nil else { return }
        inputs?.append(SchedulerInput.Entry(at: now, input: input()))
    }
}
