// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghost
internal import Glibc

/// Changes that runs leave in the process, which other runs share.
enum ProcessChecks {
    static let all = [
        Check(
            "signals",
            "its runs leave signal handlers and masks as they are",
            level: 5,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject()
            let before = picture(subject, ProcessPicture.signals)
            _ = try subject.carryToEnd()
            var after = picture(subject, ProcessPicture.signals)
            if try GoRuntime.isDeclared(stage) { GoRuntime.forgetStack(in: &after, as: before) }
            let changes = before.changes(to: after)
            guard let first = changes.first else { return }
            throw Finding.failed(
                "a run changes how the process takes signals: \(first)",
                fix:
                    "put back what you set before the run ends; block signals in threads of your own"
                    + " only, and use signalfd or pidfd there"
            )
        },
        Check(
            "process-state",
            "its runs leave folder, umask, locale, environment and limits as they are",
            level: 5,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject()
            let before = picture(subject, ProcessPicture.state)
            _ = try subject.carryToEnd()
            let changes = before.changes(to: picture(subject, ProcessPicture.state))
            guard let first = changes.first else { return }
            throw Finding.failed(
                "a run changes the process: \(first)",
                fix: "use what does not need it (openat, newlocale, posix_spawn's own environment):"
                    + " other runs live in the same process"
            )
        },
        Check(
            "children",
            "its runs leave no process behind",
            level: 5,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject()
            _ = try subject.carryToEnd()
            // A process that is about to end may still be visible.
            guard !becomesTrue(within: 200, { ProcessPicture.children().isEmpty }) else { return }
            let names = ProcessPicture.children().map { child in
                SmallFile.text("/proc/\(child)/comm") ?? "?"
            }
            throw Finding.failed(
                "a run leaves " + CountText.of(names.count, "process", "processes")
                    + " behind, among them \"\(names.first ?? "?")\"",
                fix:
                    "wait for what you start (waitpid) before the run ends: the rest is killed with"
                    + " the worker"
            )
        },
        Check(
            "output",
            "its runs write to the host's log and not to the streams",
            level: 9,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            let subject = try stage.subject()
            let trap = OutputTrap()
            _ = try subject.carryToEnd()
            let (beginning, count) = trap.text()
            guard count > 0 else { return }
            throw Finding.warned(
                "a run writes \(count) bytes to stdout or stderr: \(quoted(beginning))",
                fix: "use bg_host.log: its lines bear the run's number, and inside the daemon the"
                    + " streams are the daemon's own"
            )
        },
    ]

    /// Takes a picture on the thread that calls start().
    private static func picture(
        _ subject: Subject,
        _ take: @escaping @Sendable () -> ProcessPicture
    ) -> ProcessPicture {
        subject.onStarter(take) ?? ProcessPicture()
    }
}
