// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel

/// Finds runs by a prefix of their ids.
struct RunLookup {
    /// The number of candidates that an error for an ambiguous prefix lists.
    static let candidatesMax = 8

    let host: any HostControl

    /// The run whose id has this prefix.
    func run(_ prefix: String) async throws(ControlFault) -> RunRecord {
        let runs = try await candidates(prefix)
        guard runs.count == 1, let run = runs.first else { throw Self.ambiguous(prefix, runs) }
        return run
    }

    /// The run in progress whose id has this prefix.
    ///
    /// Ended runs do not make the prefix ambiguous.
    func runUnderWay(_ prefix: String) async throws(ControlFault) -> RunRecord {
        let runs = try await candidates(prefix)
        let live = runs.filter { $0.state != .ended }
        if live.count == 1, let run = live.first { return run }
        guard live.isEmpty, runs.count == 1, let run = runs.first else {
            throw Self.ambiguous(prefix, live.isEmpty ? runs : live)
        }
        throw Self.notUnderWay(run)
    }

    static func notUnderWay(_ run: RunRecord) -> ControlFault {
        let end = run.outcome.map { "it \($0.text == "lost" ? "was lost" : "ended: \($0.text)")" }
        return ControlFault(
            .runNotUnderWay,
            "the run \(run.id) is no longer under way" + (end.map { " (\($0))" } ?? "")
        )
    }

    /// The runs whose ids have this prefix, at least one.
    private func candidates(_ prefix: String) async throws(ControlFault) -> [RunRecord] {
        let isPossible =
            (1...26).contains(prefix.utf8.count)
            && RunID(prefix + String(repeating: "0", count: 26 - prefix.utf8.count)) != nil
        let runs =
            isPossible
            ? await host.runs(idPrefix: prefix.uppercased(), limit: Self.candidatesMax + 1) : []
        guard !runs.isEmpty else {
            throw ControlFault(
                .noSuchRun,
                "there is no run whose id begins with \(TerminalText.escaped(String(prefix.prefix(40))))",
                fix: "bghost runs lists them"
            )
        }
        return runs
    }

    private static func ambiguous(_ prefix: String, _ runs: [RunRecord]) -> ControlFault {
        let more = runs.count > candidatesMax ? "more than \(candidatesMax)" : "\(runs.count)"
        return ControlFault(
            .ambiguousRun,
            "\(more) runs have an id that begins with \(prefix)",
            fix: "give more characters",
            candidates: runs.prefix(candidatesMax).map { "\($0.id) \($0.task)" }
        )
    }
}

/// Checks the names of tasks.
struct TaskLookup {
    let host: any HostControl

    /// Throws if there is no such task.
    func check(_ task: String) async throws(ControlFault) {
        do {
            try await host.requireTask(task)
        } catch {
            throw ControlFault(error)
        }
    }
}
