// SPDX-License-Identifier: Apache-2.0

package import BghostPolicy

/// Records the inputs and decisions of a host's scheduler for a replay.
///
/// The host calls it on its own thread; it must not block.
package protocol DecisionRecorder: Sendable {
    /// Records the start of the scheduler with its settings; the manifest is stored elsewhere.
    func begin(_ settings: Scheduler.Settings)

    /// Records inputs of the scheduler and the resulting decisions.
    func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect])
}
