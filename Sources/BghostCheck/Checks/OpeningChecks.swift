// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import CBghost

/// open(), the first time and after close().
enum OpeningChecks {
    static let all = [
        Check("open", "open() succeeds", level: 1, .plugin, needs: ["table"]) {
            (stage) throws(Finding) in
            do throws(Finding) {
                _ = try stage.subject()
            } catch {
                var finding = error
                if finding.message.contains("open() answered"), stage.order.config == "{}" {
                    finding.fix = "if it needs settings to be opened, give them as --plugin-config"
                }
                throw finding
            }
        },
        Check(
            "open-again",
            "it can be opened again after close(), by another host",
            level: 6,
            .plugin,
            needs: ["open", "run"],
            runs: 4,
            body: again
        ),
        Check(
            "two-at-once",
            "two workers can have it open at once, with one data directory",
            level: 6,
            .plugin,
            needs: ["open", "run"],
            runs: 8,
            isForTwo: true,
            body: twoAtOnce
        ),
    ]

    private static func again(_ stage: Stage) throws(Finding) {
        let fix =
            "keep nothing from the time before close(): take the host that the latest open() or"
            + " bghost_plugin_v1() was given, and make all state anew"
        for time in 1...3 {
            let subject: Subject
            do throws(Finding) {
                subject = try stage.subject()
            } catch {
                throw Finding.failed("opening it again after close(): \(error.message)", fix: fix)
            }
            let story = subject.finish(try subject.begin(0))
            let wrong = HostWatch.seen.wrongHost.union(HostWatch.seen.afterClose)
            if time > 1, story.end == nil || !wrong.isEmpty {
                let called = wrong.first.map { "; it called \($0)() of the host of before" } ?? ""
                throw Finding.failed(
                    "opened again after close(), its runs do not end\(called)",
                    fix: fix
                )
            }
            guard story.end != nil else {
                throw Finding.skipped("a run did not end, so that it could not be closed")
            }
            guard subject.close() else {
                throw Finding.skipped("close() did not come back")
            }
        }
    }

    private static func twoAtOnce(_ stage: Stage) throws(Finding) {
        guard let meeting = stage.meeting else { return }
        let fix =
            "the daemon starts several workers of a plugin at once, and they share data_dir: write"
            + " files of a run's own and rename() them, or hold a lock only while you write"
        stage.setting = "with another worker of it beside"
        let subject: Subject
        do throws(Finding) {
            subject = try stage.subject()
        } catch {
            throw Finding.failed("with another worker of it beside: \(error.message)", fix: fix)
        }
        guard meeting.meet() else { return }
        // Across all processes, a serial handler has only one run at a time.
        for turn in 0...1 {
            for (index, handler) in (subject.plugin?.handlers ?? []).enumerated()
            where turn == (handler.flags.contains(.serial) ? meeting.place : 0) {
                guard subject.finish(try subject.begin(index)).end == nil else { continue }
                throw Finding.failed(
                    "with another worker of it open, a run of \(handler.name) does not end",
                    fix: fix
                )
            }
            guard meeting.meet() else { return }
        }
        // The checks of close() judge whether it returns.
        _ = subject.close()
    }
}
