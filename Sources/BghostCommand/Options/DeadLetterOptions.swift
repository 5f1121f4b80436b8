// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl

/// The options that select dead letters.
struct DeadLetterOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The request's id, or the beginning of it.", valueName: "request"))
    var request: String?

    @Option(
        help: ArgumentHelp("All of this task.", valueName: "id"),
        completion: .taskNames
    )
    var task: String?

    @Flag(help: "All of them.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Change nothing unless there are exactly this many.",
            valueName: "n"
        )
    )
    var expect: Int?

    func validate() throws {
        guard [request != nil, task != nil, all].count(where: { $0 }) == 1 else {
            throw ValidationError("give one request, or --task, or --all")
        }
        try Self.check(expect)
    }

    /// Refuses a count that cannot be one.
    static func check(_ expect: Int?) throws {
        guard let expect else { return }
        guard (0...ControlLimits.expectedMax).contains(expect) else {
            throw ValidationError("--expect must be from 0 to \(ControlLimits.expectedMax)")
        }
    }

    var choice: DeadLetterChoice {
        if let request { return .request(prefix: request) }
        return task.map { .task($0) } ?? .all
    }
}
