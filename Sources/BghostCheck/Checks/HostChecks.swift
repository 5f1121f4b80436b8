// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import CBghost

/// Hosts that differ from today's: with fewer functions, newer, busier, stricter, slower.
enum HostChecks {
    static let all = [
        check(
            "poor-host",
            "its runs end on a host without extensions",
            level: 7,
            "a host without any extension",
            fix: "extension() may answer 0: look before you call, and do without or fail the run"
        ) { $0.hasExtensions = false },
        check(
            "newer-host",
            "its runs end on a host of a later minor",
            level: 7,
            "a host of a later minor (1.9)",
            fix:
                "a newer host is no reason to refuse: look only at abi_major, and at no field beyond"
                + " your own sizeof"
        ) { $0.isNewer = true },
        check(
            "busy-host",
            "its runs end on a host that answers BG_E_LIMIT",
            level: 7,
            "a host that answers BG_E_LIMIT to all but complete()",
            fix: "look at what host functions answer; set_state(), param() and fetches may fail"
        ) { $0.hostBehavior = .refusing },
        check(
            "strict-host",
            "its runs end on a host that answers BG_E_PERM",
            level: 7,
            "a host that permits no request, fetch, transfer or notification (BG_E_PERM)",
            fix:
                "do without or fail the run: tasks.json grants no more to a second call; BG_E_ABSENT"
                + " says that there was nothing, which may be what you wanted"
        ) { $0.hostBehavior = .denying },
        check(
            "changing-lists",
            "its runs end when what a list holds changes between two calls",
            level: 7,
            "a host on which lists grow and shrink between two calls",
            fix:
                "of pending(), look at min(capacity, *total) entries; make room again where *total or"
                + " *need says more, or BG_E_SMALL is answered, and not for ever"
        ) { $0.hostBehavior = .changing },
        check(
            "slow-host",
            "its runs end on a host whose calls take 50 ms",
            level: 7,
            "a host whose calls take 50 ms each",
            fix:
                "hold no lock over a call that a stop needs too, and do not take a slow answer for"
                + " none"
        ) { $0.callMilliseconds = 50 },
        Check(
            "one-processor",
            "its runs end on one processor",
            level: 7,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            // Do this before the plugin is loaded: a new thread inherits the processors of its
            // creator.
            guard let processor = ProcessorSet.current, processor.bind(thread: 0) else {
                throw Finding.skipped("this machine does not bind a process to one processor")
            }
            try play(
                stage,
                Subject.Behavior(),
                on: "one processor",
                fix:
                    "wait with a condition variable or a descriptor and not in a loop, and see that"
                    + " the work is done where sched_getaffinity() has one processor"
            )
        },
        Check(
            "small-result",
            "a run ends where no payload fits",
            level: 6,
            .handler,
            needs: ["run"]
        ) { (stage) throws(Finding) in
            let story = try stage.subject().carry(resultBytesMax: 1)
            guard story.end == nil else { return }
            throw Finding.failed(
                "with max_result 1 the run does not end: complete() answered BG_E_LIMIT, which leaves"
                    + " it open",
                fix: "look at what complete() answers, and complete with less, or return a final"
                    + " status"
            )
        },
    ]

    private static func check(
        _ id: String,
        _ title: String,
        level: Int,
        _ host: String,
        fix: String,
        _ change: @escaping @Sendable (inout Subject.Behavior) -> Void
    ) -> Check {
        Check(id, title, level: level, .handler, needs: ["run"]) { (stage) throws(Finding) in
            var behavior = Subject.Behavior()
            change(&behavior)
            try play(stage, behavior, on: host, fix: fix)
        }
    }

    private static func play(
        _ stage: Stage,
        _ behavior: Subject.Behavior,
        on host: String,
        fix: String
    ) throws(Finding) {
        stage.setting = "on " + host
        let subject: Subject
        do throws(Finding) {
            subject = try stage.subject(behavior)
        } catch {
            // A plugin may refuse a host without functions that it needs, but not a newer host.
            guard behavior.isNewer || !error.message.contains("open() answered") else { return }
            throw Finding.failed("on \(host): \(error.message)", fix: fix)
        }
        guard try subject.carry().end == nil else { return }
        throw Finding.failed("on \(host), a run does not end", fix: fix)
    }
}
