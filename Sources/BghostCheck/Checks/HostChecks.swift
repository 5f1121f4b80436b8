// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// Other hosts than today's: poorer, newer, busier.
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
        ) { $0.mood = .refusing },
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
        _ change: @escaping @Sendable (inout Subject.Manners) -> Void
    ) -> Check {
        Check(id, title, level: level, .handler, needs: ["run"]) { (stage) throws(Finding) in
            var manners = Subject.Manners()
            change(&manners)
            let subject: Subject
            do throws(Finding) {
                subject = try stage.subject(manners)
            } catch {
                // To refuse is an answer, of a plugin that cannot do without; not to a newer host.
                guard manners.isNewer || !error.message.contains("open() answered") else { return }
                throw Finding.failed("on \(host): \(error.message)", fix: fix)
            }
            guard try subject.carry().end == nil else { return }
            throw Finding.failed("on \(host), a run does not end", fix: fix)
        }
    }
}
