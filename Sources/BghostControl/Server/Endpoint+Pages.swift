// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel

extension Endpoint.QueryKey {
    static let tasks = Self(
        "task",
        "Only of this task; with `*` at its end, of all tasks that begin like this."
    )
    static let tag = Self("tag", "Only of tasks of the manifest in force that have this tag.")
    static let cursor = Self("cursor", "Only what follows the page whose `next` this is.")
    static let expected = Self(
        "expected",
        "How many there must be; if there are more or fewer, nothing is done. Absent: any number."
    )
}

extension Endpoint {
    /// The keys of `GET /v1/pending`; those that are given must all hold.
    static let pendingKeys: [QueryKey] = [
        .tasks,
        QueryKey("plugin", "Only for tasks of this plugin or function."),
        QueryKey(
            "submitter",
            "Only from `operator`, from `manifest`, from a `run`, or from a `plugin` outside of its runs."
        ),
        .tag,
        .cursor,
        .limit(ControlLimits.pendingMax, default: ControlLimits.pendingUsual),
    ]

    /// The keys of `GET /v1/dead`; those that are given must all hold.
    static let deadKeys: [QueryKey] = [
        .tasks,
        QueryKey("plugin", "Only of tasks that the manifest gives to this plugin or function now."),
        QueryKey("since", "Only what died at this time or later, as in `GET /v1/runs`."),
        QueryKey("until", "Only what died before this time."),
        .cursor,
        .limit(ControlLimits.deadLettersMax, default: ControlLimits.deadLettersUsual),
    ]

    /// The keys of `GET /v1/fleet/requests`; those that are given must all hold.
    static let fleetRequestKeys: [QueryKey] = [
        .tasks,
        QueryKey("state", "`dead`: dead letters. Absent, or `waiting`: what waits or runs."),
        .cursor,
        .limit(ControlLimits.fleetRequestsMax, default: ControlLimits.fleetRequestsUsual),
    ]

    /// The keys of `GET /v1/checkpoints`; those that are given must all hold.
    static let checkpointKeys: [QueryKey] = [
        .tasks,
        QueryKey("plugin", "Only what handlers of this plugin saved."),
        .cursor,
        .limit(ControlLimits.checkpointsMax, default: ControlLimits.checkpointsUsual),
    ]

    /// The keys of `GET /v1/transfers`.
    static let transferKeys: [QueryKey] = [
        .cursor, .limit(ControlLimits.transfersMax, default: ControlLimits.transfersUsual),
    ]

    /// The keys of `GET /v1/starts`; those that are given must all hold.
    static let startKeys: [QueryKey] = [
        .tasks,
        QueryKey("plugin", "Only of tasks that the manifest gives to this plugin or function now."),
        QueryKey("what", "Only what happened like this, a word of `what` of the answer."),
        QueryKey("since", "Only what was due at this time or later."),
        QueryKey("until", "Only what was due before this time."),
        .cursor,
        .limit(ControlLimits.runsMax, default: ControlLimits.runsUsual),
    ]

    /// The keys of `GET /v1/plan`.
    static let planKeys: [QueryKey] = [
        .task,
        QueryKey(
            "hours",
            "The starts of so many hours from now on, 1 to \(ControlLimits.planHoursMax); absent: 168, a week."
        ),
        QueryKey(
            "each",
            "At most so many of one task, 1 to \(ControlLimits.planMax); absent: \(ControlLimits.planEachUsual)."
        ),
        .limit(ControlLimits.planMax, default: ControlLimits.planUsual),
    ]

    /// The keys of `GET /v1/days`; those that are given must all hold.
    static let dayKeys: [QueryKey] = [
        .tasks,
        QueryKey("since", "Only the day of this time and later ones."),
        QueryKey("until", "Only days that began before this time."),
        .cursor,
        .limit(ControlLimits.runsMax, default: ControlLimits.runsUsual),
    ]
}

extension Query {
    /// The question of `GET /v1/pending`.
    func pendingQuestion() throws(ControlFault) -> PendingQuestion {
        PendingQuestion(
            tasks: text("task").map { TaskFilter($0) },
            plugin: text("plugin"),
            submitter: try word("submitter", of: Submitter.Kind.self),
            tag: text("tag"),
            cursor: try cursor(),
            limit: try number("limit", in: 1...ControlLimits.pendingMax)
                ?? ControlLimits.pendingUsual
        )
    }

    /// The question of `GET /v1/dead`.
    func deadLetterQuestion() throws(ControlFault) -> DeadLetterQuestion {
        DeadLetterQuestion(
            tasks: text("task").map { TaskFilter($0) },
            plugin: text("plugin"),
            since: text("since"),
            until: text("until"),
            cursor: try cursor(),
            limit: try number("limit", in: 1...ControlLimits.deadLettersMax)
                ?? ControlLimits.deadLettersUsual
        )
    }

    /// The question of `GET /v1/fleet/requests`.
    func fleetRequestQuestion() throws(ControlFault) -> FleetRequestQuestion {
        let isDead: Bool
        switch text("state") {
        case nil, "waiting": isDead = false
        case "dead": isDead = true
        default: throw .badRequest("`state` must be waiting or dead")
        }
        return FleetRequestQuestion(
            isDead: isDead,
            tasks: text("task").map { TaskFilter($0) },
            cursor: try cursor(),
            limit: try number("limit", in: 1...ControlLimits.fleetRequestsMax)
                ?? ControlLimits.fleetRequestsUsual
        )
    }

    /// The question of `GET /v1/checkpoints`.
    func checkpointQuestion() throws(ControlFault) -> CheckpointQuestion {
        CheckpointQuestion(
            tasks: text("task").map { TaskFilter($0) },
            plugin: text("plugin"),
            cursor: try cursor(),
            limit: try number("limit", in: 1...ControlLimits.checkpointsMax)
                ?? ControlLimits.checkpointsUsual
        )
    }

    /// The question of `GET /v1/starts`.
    func startQuestion() throws(ControlFault) -> StartQuestion {
        StartQuestion(
            tasks: text("task").map { TaskFilter($0) },
            plugin: text("plugin"),
            kind: try word("what", of: SkippedStart.Kind.self),
            since: text("since"),
            until: text("until"),
            cursor: try cursor(),
            limit: try number("limit", in: 1...ControlLimits.runsMax) ?? ControlLimits.runsUsual
        )
    }

    /// The question of `GET /v1/days`.
    func dayQuestion() throws(ControlFault) -> RunDayQuestion {
        RunDayQuestion(
            tasks: text("task").map { TaskFilter($0) },
            since: text("since"),
            until: text("until"),
            cursor: try cursor(),
            limit: try number("limit", in: 1...ControlLimits.runsMax) ?? ControlLimits.runsUsual
        )
    }

    /// The question of `GET /v1/plan`.
    func planQuestion() throws(ControlFault) -> PlanQuestion {
        PlanQuestion(
            task: text("task"),
            hours: try number("hours", in: 1...ControlLimits.planHoursMax)
                ?? ControlLimits.planHoursUsual,
            perTaskMax: try number("each", in: 1...ControlLimits.planMax)
                ?? ControlLimits.planEachUsual,
            limit: try number("limit", in: 1...ControlLimits.planMax) ?? ControlLimits.planUsual
        )
    }

    /// The question of `GET /v1/transfers`: the transfer after which the page begins, and its length.
    func transferQuestion() throws(ControlFault) -> (after: RunID?, limit: Int) {
        let limit = try number("limit", in: 1...ControlLimits.transfersMax)
        let after: RunID?
        switch try cursor() {
        case nil: after = nil
        case .transfers(let id): after = id
        case .pending, .dead, .starts, .days, .checkpoints, .fleetRequest, .fleetLetter:
            throw ControlFault(
                .badCursor,
                "the cursor is one of another list",
                fix: "give `next` of a page of transfers, or no cursor for the first page"
            )
        }
        return (after, limit ?? ControlLimits.transfersUsual)
    }

    private func cursor() throws(ControlFault) -> PageCursor? {
        guard let text = text("cursor") else { return nil }
        guard let cursor = PageCursor(text) else {
            throw ControlFault(
                .badCursor,
                "`\(TerminalText.escaped(String(text.prefix(60))))` is no cursor of a page",
                fix: "give `next` of the page before, or no cursor for the first page"
            )
        }
        return cursor
    }

    /// A value that is one of a few words.
    private func word<Word: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        of _: Word.Type
    ) throws(ControlFault) -> Word? {
        guard let text = text(key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue)
        throw ControlFault(
            .badRequest,
            "`\(TerminalText.escaped(String(text.prefix(40))))` is no value of `\(key)`",
            fix: "it is one of " + words.joined(separator: ", "),
            candidates: words
        )
    }
}
