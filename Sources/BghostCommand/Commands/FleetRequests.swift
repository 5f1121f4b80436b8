// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostCommandLine
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

extension ClientCommand {
    /// Shows a page of the requests of all hosts of the fleet.
    func showFleetRequests(
        isDead: Bool,
        task: String?,
        cursor: String?,
        limit: Int?
    ) async throws {
        try await ask { client, console in
            let answer = try await client.fleetRequests(
                isDead: isDead,
                task: task,
                cursor: cursor,
                limit: limit
            )
            guard !output.json else { return console.answer(json: answer.json) }
            let view = FleetRequestsView(list: answer.value, isDead: isDead, now: unixNow())
            console.answer(view.text(console.out))
        }
    }

    /// Cancels a request of the fleet, wherever it is.
    func cancelInFleet(_ request: String) async throws {
        try await ask { client, console in
            let answer = try await client.cancelInFleet(request)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(Self.text(answer.value))
        }
    }

    private static func text(_ answer: API.FleetCancellation) -> String {
        let listed = answer.request
        let request =
            "request \(listed.request.id) of \(TerminalText.escaped(listed.request.task))"
        guard answer.changed else { return "\(request) was cancelled already\n" }
        let owner = listed.owner.map(TerminalText.escaped)
        let verb = listed.state == "running" ? "cancels its run" : "withdraws it"
        // An owner without the task leaves the request to the next one.
        return "\(request) is cancelled; "
            + (owner.map { "\($0) \(verb) within about a second if it has the task\n" }
                ?? "no host owns its partition now, and the next one that has the task \(verb)\n")
    }
}
