// SPDX-License-Identifier: Apache-2.0

internal import BghostCalendar

extension ManifestKeys {
    /// The keys for the schedule of a task, and what is expected of it.
    static let schedule = [
        expect,
        runs,
        ManifestKey(
            "every",
            .duration(1000...366 * day),
            "A request is submitted each time that this has passed."
        ),
        ManifestKey(
            "calendar",
            .text(.calendar),
            "When requests are submitted, as cron with five fields or six (seconds first)."
        ),
        ManifestKey(
            "onBoot",
            .flagOrDuration(1...7 * day),
            default: "false",
            """
            A request is submitted once in each boot of the machine: true for at once, or how long \
            after the boot.
            """
        ),
        ManifestKey(
            "timeZone",
            .text(.timeZone),
            "The IANA zone of the calendar; the default is the host's `timeZone`, or UTC."
        ),
        ManifestKey(
            "gap",
            .word(GapPolicy.allCases.map(\.rawValue), reserved: []),
            default: "\"shift\"",
            """
            What a fixed time means on the day on which clocks skip it: shift is the first time \
            after the gap, skip is not at all.
            """
        ),
        ManifestKey(
            "fold",
            .word(FoldPolicy.allCases.map(\.rawValue), reserved: []),
            default: "\"first\"",
            "What a fixed time means on the day on which clocks show it twice."
        ),
        ManifestKey(
            "misfire",
            .word(["once", "skip", "all"], reserved: []),
            default: "\"once\"",
            """
            What happens to starts missed while bghost could not run: one run for all, \
            none, or each gets its run.
            """
        ),
        ManifestKey(
            "misfireMax",
            .whole(1...Int64(MisfirePlan.timesMax)),
            default: "10",
            "With misfire all: how many times are run after the fact at most, the latest ones."
        ),
        ManifestKey(
            "startDeadline",
            .duration(1...366 * day),
            "A time that could not begin within this is missed."
        ),
        ManifestKey(
            "offset",
            .section(offset),
            "Spreads the machines of a fleet: each begins a constant while later."
        ),
        ManifestKey(
            "randomDelay",
            .duration(1...day),
            """
            Each start is later by a random part of this, drawn anew; it must be shorter than the \
            time between two starts.
            """
        ),
        ManifestKey(
            "tolerance",
            .duration(1...30 * day),
            """
            How much later than its date a request may begin, so that several begin together; \
            without it none does.
            """
        ),
        ManifestKey(
            "learnsUse",
            .flag,
            default: "false",
            """
            Whether a request begins, within its tolerance, half an hour before what it brings is \
            usually used; `bghost uses` shows what has been learned.
            """
        ),
    ]

    private static let offset = ManifestSection(
        noun: "section `offset`",
        keys: [
            ManifestKey(
                "window",
                .duration(1...7 * day),
                required: true,
                "The most by which a machine begins later."
            )
        ]
    )
}
