// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel

extension Endpoint {
    /// The keys of `GET /v1/runs`; those that are given must all hold.
    static let runKeys: [QueryKey] = [
        .task,
        QueryKey("plugin", "Only of this plugin or function."),
        .tag,
        QueryKey(
            "outcome",
            "Only with this outcome, without what follows in parentheses; or `unsuccessful`, or `running`."
        ),
        QueryKey("since", "Only what ended at this time or later; a run in progress ends now."),
        QueryKey("until", "Only what ended before this time."),
        QueryKey("id", "Only runs whose id begins like this."),
        QueryKey("text", "Only runs whose message has this text, at most 200 bytes."),
        QueryKey(
            "submitterRun",
            "Only runs whose request was submitted in this run or follows its success; a whole id."
        ),
        QueryKey("before", "Only runs before this number: `next` of the page before."),
        QueryKey("after", "Only runs after this number: `newer` of an earlier answer."),
        .limit(ControlLimits.runsMax, default: ControlLimits.runsUsual),
    ]

    /// The keys of `GET /v1/past`.
    static let pastKeys: [QueryKey] = [
        QueryKey("task", "The task; needed."),
        QueryKey("at", "The time, as in `GET /v1/runs`; needed."),
    ]

    /// The most bytes of a text that is searched for.
    static let textBytesMax = 200
}

extension Query {
    /// The question of `GET /v1/runs`.
    func runQuestion() throws(ControlFault) -> RunQuestion {
        var filter = RunFilter(task: text("task"), plugin: text("plugin"), text: text("text"))
        if let word = text("outcome") {
            guard let state = RunFilter.State(text: word) else {
                throw ControlFault(
                    .badRequest,
                    "`\(TerminalText.escaped(String(word.prefix(40))))` is no outcome",
                    fix: "it is one of " + RunFilter.State.words.joined(separator: ", "),
                    candidates: RunFilter.State.words
                )
            }
            filter.state = state
        }
        if let text = filter.text, text.utf8.count > Endpoint.textBytesMax {
            throw .badRequest("`text` is longer than \(Endpoint.textBytesMax) bytes")
        }
        filter.idPrefix = text("id")?.uppercased()
        if let text = text("submitterRun") {
            filter.submitterRun = RunID(text)
            guard filter.submitterRun != nil else {
                throw ControlFault(
                    .badRequest,
                    "`\(TerminalText.escaped(String(text.prefix(40))))` is no id of a run",
                    fix: "give the whole id, 26 characters, as `id` of `GET /v1/runs` has it"
                )
            }
        }
        let limit =
            try number("limit", in: 1...ControlLimits.runsMax) ?? ControlLimits.runsUsual
        return RunQuestion(
            RunQuery(
                filter,
                before: try number("before", in: 0...Int.max).map(Int64.init),
                after: try number("after", in: 0...Int.max).map(Int64.init),
                limit: limit
            ),
            since: text("since"),
            until: text("until"),
            tag: text("tag")
        )
    }
}
