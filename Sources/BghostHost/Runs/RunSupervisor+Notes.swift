// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// What others tell of a run: its record belongs to the supervisor.
extension RunSupervisor {
    /// Notes why a run ends; nothing happens if it has ended.
    func note(message: String, of number: UInt64) {
        runs.run(number)?.record.message = message
    }

    /// Notes the process that a run is in.
    func note(pid: Int32, of number: UInt64) {
        runs.run(number)?.record.pid = pid
    }

    /// Notes how far a run is.
    ///
    /// - Parameter phase: a text of the plugin.
    func noteProgress(of number: UInt64, done: UInt64, total: UInt64, phase: String) {
        runs.run(number)?.record.progress = RunProgress(
            done: done,
            total: total,
            phase: PrintableText.escaped(phase)
        )
    }

    /// Cancels a run as if its time were over; the scheduler does not throttle its task for that.
    func simulateExpiry(of run: ActiveRun) {
        run.isExpirySimulated = true
        handle(.stop(.expired), of: run.number)
    }
}
