// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostPlugin
internal import CBghost
internal import Glibc

/// One run, and several at once.
enum RunChecks {
    static let all = [
        Check(
            "run",
            "a run ends, by itself or when it is asked to",
            level: 1,
            .handler,
            needs: ["open"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject()
            let begun = try subject.begin()
            let story = subject.finish(begun)
            guard story.end == nil else { return }
            let hasReturned = begun.returned.wait(milliseconds: 0) != nil
            let may = try subject.handler().it.flags.contains(.mayBlock)
            throw Finding.failed(
                hasReturned && !may
                    ? "start() returned BG_PENDING, and complete() never followed, not even when the"
                        + " run was asked to stop"
                    : "the run did not end, not even when it was asked to stop",
                fix: "return a final status from start(), or call complete() on every path, also in"
                    + " cancel()"
            )
        },
        Check(
            "status",
            "it answers statuses that mean something",
            level: 2,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            guard let end = try stage.subject().carry().end else { return }
            let fix = "answer BG_OK, BG_PENDING, a BG_E_* or -1000 and below"
            if end.message.hasPrefix(PluginRuntime.unknownStatus) {
                throw Finding.failed(end.message, fix: fix)
            }
            let known: [Int32] = [
                BG_OK, BG_E_FAILED, BG_E_RETRY, BG_E_CANCELLED, BG_E_FINAL, BG_E_STALE,
                BG_E_CLOSED, BG_E_ARG, BG_E_PERM, BG_E_LIMIT, BG_E_SMALL, BG_E_ABSENT, BG_E_KIND,
                BG_E_NOT_NOW,
            ]
            guard known.contains(end.status) || end.status <= -1000 else {
                throw Finding.failed(
                    "the run ended with status \(end.status), which counts as BG_E_FAILED",
                    fix: fix
                )
            }
        },
        Check(
            "result",
            "complete() accepts its results",
            level: 2,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            _ = try stage.subject().carry()
            let refusals = HostWatch.seen.refusals["complete"] ?? []
            if refusals.contains(BG_E_ARG) {
                throw Finding.failed(
                    "complete() refused a result (BG_E_ARG)",
                    fix:
                        "set size to sizeof(bg_result), status to 0 or below and retry_after_ms to 0"
                        + " or above; the message is UTF-8, the payload JSON"
                )
            }
            guard refusals.contains(BG_E_LIMIT) else { return }
            throw Finding.failed(
                "complete() refused a payload of more than max_result bytes (BG_E_LIMIT)",
                fix: "leave large results in data_dir, and name them in the payload"
            )
        },
        Check(
            "calls",
            "it calls the host with arguments that it takes",
            level: 3,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            _ = try stage.subject().carry()
            let seen = HostWatch.seen
            if let name = seen.wrongHost.sorted().first {
                throw Finding.failed(
                    "it calls \(name)() with another bg_host than it was given",
                    fix: "pass the pointer that bghost_plugin_v1() or open() got"
                )
            }
            for (name, answers) in seen.refusals.sorted(by: { $0.key < $1.key })
            where name != "complete" && answers.contains(BG_E_ARG) {
                throw Finding.failed(
                    "\(name)() refused its arguments (BG_E_ARG)",
                    fix: "a text of more than 0 bytes needs a pointer, a buffer its capacity,"
                        + " a struct its size"
                )
            }
        },
        Check(
            "completes-once",
            "it completes each run once",
            level: 2,
            .handler,
            needs: ["run"],
            runs: 3,
            body: once
        ),
        Check(
            "prompt-start",
            "start() returns within 250 ms unless it may block",
            level: 4,
            .handler,
            needs: ["run"],
            runs: 3,
            body: promptStart
        ),
        Check(
            "overlap",
            "16 runs at once do not mix",
            level: 5,
            .handler,
            needs: ["run"],
            runs: 3,
            body: overlap
        ),
    ]

    private static func once(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject()
        for _ in 0..<3 {
            let story = try subject.carry()
            // After a cancellation, two threads of the plugin may complete the run; that is
            // permitted.
            guard !story.wasStopped else { continue }
            // Another thread may still be about to do it.
            let isLate = becomesTrue(within: 100) {
                HostWatch.seen.lateCompletions[story.run] != nil
            }
            guard isLate, let late = HostWatch.seen.lateCompletions[story.run] else { continue }
            throw Finding.failed(
                late.isSecond
                    ? "complete() is called twice for a run"
                    : "start() returns a final status, and complete() is called for the run all the"
                        + " same",
                fix: late.isSecond
                    ? "call it once: the second call is answered BG_E_STALE and lost"
                    : "return BG_PENDING if complete() is to decide"
            )
        }
    }

    private static func promptStart(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject()
        guard try !subject.handler().it.flags.contains(.mayBlock) else {
            throw Finding.skipped("it says that start() may block (BG_TASK_MAY_BLOCK)")
        }
        var best = UInt64.max
        // Take the best of three: a busy machine may delay each of them.
        for _ in 0..<3 {
            let begun = try subject.begin(isTimed: true)
            let story = subject.finish(begun)
            guard let took = begun.returned.wait(milliseconds: 1000) else { continue }
            best = min(best, took / 1_000_000)
            if best <= 250 { return }
            guard story.end != nil else { break }
        }
        throw Finding.failed(
            "start() takes \(best == .max ? "more than a second" : "\(best) ms"); until it returns,"
                + " neither other runs nor a stop get through",
            fix: "set BG_TASK_MAY_BLOCK, or do the work on a thread and return BG_PENDING"
        )
    }

    private static func overlap(_ stage: Stage) throws(Finding) {
        var behavior = Subject.Behavior()
        behavior.slotCount = 16
        let subject = try stage.subject(behavior)
        guard try !subject.handler().it.flags.contains(.serial) else {
            throw Finding.skipped("its runs never overlap (BG_TASK_SERIAL)")
        }
        for _ in 0..<2 {
            var begun: [Subject.Begun] = []
            for slotIndex in 0..<behavior.slotCount {
                begun.append(try subject.begin(slotIndex: slotIndex))
            }
            let runtime = UInt64(stage.order.runtimeMilliseconds)
            // The runs that are still open then are cancelled, and judged by their ends.
            _ = becomesTrue(within: runtime) {
                begun.allSatisfy { subject.runs.isComplete($0.run) }
            }
            let open = begun.filter { !subject.runs.isComplete($0.run) }
            for run in open { subject.cancelSoon(run, why: UInt32(BG_WHY_EXPIRED)) }
            for run in begun {
                let grace = Int(stage.order.graceMilliseconds)
                guard subject.runs.end(of: run.run, milliseconds: grace) != nil else {
                    throw Finding.failed(
                        "of \(begun.count) runs at once, \(open.count) did not end, though one alone"
                            + " does",
                        fix: "keep what belongs to a run with the run (set_state), not in globals;"
                            + " or set BG_TASK_SERIAL"
                    )
                }
            }
            let late = begun.first { run in
                !open.contains { $0.run == run.run }
                    && HostWatch.seen.lateCompletions[run.run] != nil
            }
            guard late == nil else {
                throw Finding.failed(
                    "with \(begun.count) runs at once, complete() is called twice for one of them",
                    fix: "keep what belongs to a run with the run (set_state), not in globals"
                )
            }
        }
    }
}
