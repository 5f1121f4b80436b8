// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import CBghost
internal import Glibc

/// The plugin's behavior when a run is cancelled.
enum StopChecks {
    static let all = [
        Check(
            "stop",
            "it ends within its grace when it is asked to stop",
            level: 3,
            .handler,
            needs: ["run"],
            runs: 5,
            body: stop
        ),
        Check(
            "stop-early",
            "it ends within its grace when the stop comes before its start",
            level: 4,
            .handler,
            needs: ["stop"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject(silent)
            let run = subject.nextNumber(slotIndex: 0)
            subject.runtime.cancel(run: run, why: UInt32(BG_WHY_DRAIN))
            let begun = try subject.begin(number: run)
            guard subject.runs.end(of: begun.run, milliseconds: stage.graceMilliseconds) == nil
            else { return }
            throw Finding.failed(
                "a run that was to stop before it began went on beyond its grace",
                fix:
                    "ask cancelled() once in start(), after its state is set; cancel() may come just"
                    + " before start()"
            )
        },
        Check(
            "stop-unknown",
            "it stops for reasons that are not known yet",
            level: 7,
            .handler,
            needs: ["stop"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject(silent)
            guard let story = try stopOnce(subject, after: 20, why: 4_000_000_000) else {
                throw tooShort
            }
            guard story.end == nil else { return }
            throw Finding.failed(
                "it does not stop for a BG_WHY_* that it does not know (4000000000)",
                fix: "take any value for a request to stop: later hosts have more reasons"
            )
        },
        Check(
            "prompt-cancel",
            "cancel() returns within 100 ms",
            level: 4,
            .handler,
            needs: ["stop"],
            body: promptCancel
        ),
        Check(
            "stop-descriptor",
            "it leaves cancel_fd as it is",
            level: 5,
            .handler,
            needs: ["run"],
            runs: 3,
            body: descriptor
        ),
    ]

    private static var silent: Subject.Behavior {
        var behavior = Subject.Behavior()
        behavior.hostBehavior = .silent
        return behavior
    }

    private static let tooShort = Finding.skipped(
        "its runs end before they can be asked to stop",
        fix: "give it --parameters with which a run takes at least a tenth of a second"
    )

    /// Cancels a run so many milliseconds after its start; `nil` if it had already ended.
    private static func stopOnce(
        _ subject: Subject,
        after milliseconds: Int,
        why: UInt32
    ) throws(Finding) -> Subject.Story? {
        // A stop before start() is another check, `stop-early`.
        let begun = try subject.beginServed()
        guard subject.runs.end(of: begun.run, milliseconds: milliseconds) == nil else { return nil }
        return subject.stop(begun, why: why)
    }

    private static func stop(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject(silent)
        var slowest: UInt64 = 0
        var count = 0
        let timely = UInt64(stage.order.graceMilliseconds) / 2
        let reasons = [BG_WHY_EXPIRED, BG_WHY_USER, BG_WHY_DRAIN, BG_WHY_CONDITION, BG_WHY_QUOTA]
        for reason in reasons {
            let moment = Int.random(in: 20...60, using: &stage.random)
            guard let story = try stopOnce(subject, after: moment, why: UInt32(reason)) else {
                continue
            }
            count += 1
            let endless = Finding.failed(
                "it was asked to stop \(moment) ms after its beginning, and went on beyond its"
                    + " grace of \(stage.order.graceMilliseconds) ms: a worker is killed then",
                fix:
                    "look at cancelled() in loops, wait for cancel_fd with poll(), or end the run"
                    + " in cancel()"
            )
            guard var best = story.stoppedAfter else { throw endless }
            // A busy machine may delay some stops, but not four in a row for one reason.
            for _ in 0..<3 where best / 1_000_000 > timely {
                guard let again = try stopOnce(subject, after: moment, why: UInt32(reason)) else {
                    continue
                }
                guard let took = again.stoppedAfter else { throw endless }
                best = min(best, took)
            }
            slowest = max(slowest, best / 1_000_000)
        }
        guard count > 0 else { throw tooShort }
        guard slowest > timely else { return }
        throw Finding.warned(
            "it takes \(slowest) ms to stop, of \(stage.order.graceMilliseconds) ms that it has",
            fix: "look more often whether it is to stop"
        )
    }

    private static func promptCancel(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject(silent)
        guard try subject.handler().it.cancel != nil else {
            throw Finding.skipped("it has no cancel()")
        }
        var best = UInt64.max
        // A busy machine may delay each of them, but not all of eight for so long. A run that ends
        // by itself before cancel() is called says nothing, and neither does one inside start().
        var (timed, silent) = (0, 0)
        while timed < (best > 500 ? 3 : 8), silent < 8 {
            // A run that has not entered start() counts below as silent.
            let begun = try subject.beginServed()
            guard subject.runs.end(of: begun.run, milliseconds: 20) == nil else {
                silent += 1
                continue
            }
            if let took = subject.timeCancel(begun, why: UInt32(BG_WHY_USER)) {
                timed += 1
                best = min(best, took / 1_000_000)
                if best <= 100 { return }
            } else {
                silent += 1
            }
            // Other checks judge whether a cancelled run ends.
            _ = subject.runs.end(of: begun.run, milliseconds: stage.graceMilliseconds)
        }
        guard best < .max else {
            throw Finding.skipped(
                "each run ended, or was still in start(), before cancel() was called",
                fix: "give it --parameters with which a run takes at least a tenth of a second"
            )
        }
        throw Finding.failed(
            "cancel() takes \(best) ms; until it returns, the run hears of nothing else",
            fix: "only say there that the run is to stop, with a flag or a condition variable"
        )
    }

    private static func descriptor(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject(silent)
        let fix = "poll() it, and do nothing else with it"
        // A run may end by itself just before it is cancelled, and then gets no cancellation. So
        // the plugin counts as reading the descriptor only if it does so each time.
        for _ in 0..<3 {
            let begun = try subject.beginServed()
            let isOver = subject.runs.end(of: begun.run, milliseconds: 20) != nil
            let fd = subject.runtime.runInfo(slotIndex: 0).pointee.cancel_fd
            guard fd >= 0 else { throw Finding.skipped("this process has no descriptor left") }
            guard fcntl(fd, F_GETFD) >= 0 else {
                throw Finding.failed("it closes cancel_fd, which is the host's", fix: fix)
            }
            guard !isOver else { return }
            // The copy shows what the plugin reads from the original, even after the original is
            // closed.
            let copy = fcntl(fd, F_DUPFD_CLOEXEC, 3)
            defer { close(copy) }
            // Other checks judge how it ends; here only the descriptor counts.
            _ = subject.stop(begun, why: UInt32(BG_WHY_USER))
            if isReadable(copy) { return }
        }
        throw Finding.failed("it reads cancel_fd, so that others do not see the stop", fix: fix)
    }

    private static func isReadable(_ fd: Int32) -> Bool {
        var wanted = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, 0) > 0
    }
}

extension Stage {
    var graceMilliseconds: Int { Int(order.graceMilliseconds) }
}
