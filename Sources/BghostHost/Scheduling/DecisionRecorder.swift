// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// Keeps what happened to a host's scheduler and what it decided, to be replayed.
///
/// It is called on the host's executor and must not block it.
package protocol DecisionRecorder: Sendable {
    /// The scheduler begins with these settings; its manifest is kept elsewhere.
    func begin(_ settings: Scheduler.Settings)

    /// Something happened, and that is what was decided.
    func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect])
}
