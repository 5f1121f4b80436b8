// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostModel
internal import BghostServices
internal import BghostWire

/// Reports of crashes, and of the stacks of runs that do not stop.
extension WorkerPool {
    /// Asks a worker whose run has not stopped for its stacks, before the daemon kills it.
    ///
    /// The kill follows when the worker has answered or after 100 ms. Call this only after the run
    /// has its outcome: the signal interrupts blocking calls, so a handler might return because of
    /// it.
    ///
    /// - Returns: `false` if the worker cannot be asked or was asked before.
    func explainBeforeKill(_ worker: Worker) -> Bool {
        guard worker.state == .live || worker.state == .retiring, worker.explainAt == .never,
            !worker.isControlBlocked
        else { return false }
        worker.state = .retiring
        worker.explainAt = now + timeouts.explain
        deadlines.arm(.explain(worker.serial), at: worker.explainAt)
        worker.explain()
        return true
    }

    /// Kills a worker that did not report its stacks in time.
    func explanationIsLate(_ serial: UInt32) {
        guard let worker = executors.worker(serial) else { return }
        retireNow(worker)
    }

    /// Stores a report of a worker.
    ///
    /// The plugin can forge a report. Therefore it counts only for runs of that worker, and only
    /// the first of each kind.
    func reported(_ report: Report, by worker: Worker) {
        let stacks = report.threads.map {
            CrashReport.ThreadStack(thread: $0.name, frames: $0.frames)
        }
        guard report.isOfThreads else {
            guard worker.crash == nil else { return }
            // A named frame belongs to the plugin; in abort() the faulting instruction is in the C library.
            let named = report.threads.first?.frames.first { $0.hasSuffix(")") }
            worker.crash = Worker.Crash(
                signal: report.signal,
                report: CrashReport(
                    place: named ?? report.place,
                    address: report.address,
                    stacks: stacks
                )
            )
            return
        }
        for number in worker.runs {
            guard let index = runs.index(of: number), let run = runs[index],
                run.record.state == .killing, run.crash.stacks.isEmpty
            else { continue }
            run.crash.stacks = stacks
        }
        if worker.explainAt != .never { retireNow(worker) }
    }

    /// Records why a worker's process exited while it had runs.
    ///
    /// The worker's report is used only if its signal matches the one that the kernel reports.
    func noteCrash(of worker: Worker, _ end: ProcessEnd) {
        var crash = CrashReport()
        if case .signalled(let number) = end, let reported = worker.crash,
            reported.signal == number
        {
            crash = reported.report
        }
        if end != .exited(0) { crash.line = PrintableText.escaped(worker.fatalLine) }
        for number in worker.runs {
            guard let index = runs.index(of: number), let run = runs[index],
                run.machine.beganAt != nil
            else { continue }
            run.crash = crash
        }
    }
}
