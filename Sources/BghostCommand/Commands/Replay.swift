// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import BghostSimulation
internal import ArgumentParser
internal import BghostControl
internal import Glibc

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay recorded decisions; report the first difference.",
        discussion: """
            The file is one of `bghost run --record`. What happened then happens again, at the same \
            moments, to a scheduler of this program; the first decision that comes out otherwise is \
            named, and ends it with status 1.
            """
    )

    @Argument(
        help: ArgumentHelp("What was recorded.", valueName: "file"),
        completion: .file()
    )
    var file: String

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The manifest that the daemon had, and after it those that it took up later.",
            valueName: "file"
        ),
        completion: .file()
    )
    var config: [String] = ["tasks.json"]

    @Flag(help: "Write each thing that happened, with what was decided.")
    var trace = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = output.console
        let lines = try JournalLines(file)
        let header = try lines.header()
        var manifests: [Manifest] = []
        for path in config { manifests.append(try ManifestFiles.read(path).require(console)) }
        guard let manifest = manifests.first(where: { $0.fingerprint == header.manifest }) else {
            throw CommandFailure(
                .failure,
                "\(config.joined(separator: ", ")) is not the manifest that \(TerminalText.escaped(file)) was recorded under",
                fix: "name that one with --config"
            )
        }
        var replay = SchedulerReplay(
            Scheduler.Settings(
                manifest: manifest,
                manifestPath: ControlLocation.normalized(config.first ?? ""),
                slots: header.slots,
                machineID: header.machineID,
                bootID: header.bootID ?? "",
                seed: UInt64(header.seed) ?? 0
            ),
            later: manifests
        )
        var decisions = 0
        try lines.forEach { number, line throws(CommandFailure) in
            decisions += try compare(line, number, &replay, console)
        }
        if output.json {
            let result = API.Replay(decisions: decisions, same: true)
            console.answer(json: APICoder.text(Schema.replay, result))
        } else {
            console.answer("\(decisions) decisions, all the same\n")
        }
    }

    /// Replays one line.
    ///
    /// - Returns: the number of decisions.
    private func compare(
        _ line: DecisionJournal.Line,
        _ number: Int,
        _ replay: inout SchedulerReplay,
        _ console: Console
    ) throws(CommandFailure) -> Int {
        var effects: [SchedulerEffect] = []
        for entry in line.inputs {
            guard replay.has(entry.input) else {
                throw CommandFailure(
                    .failure,
                    "line \(number): the daemon took up a manifest that none of the files given is",
                    fix: "name that one with --config too"
                )
            }
            guard let decided = replay.apply(entry) else {
                throw otherwise(number, entry, "it cannot happen any more")
            }
            if trace {
                console.remark(TerminalText.escaped("\(entry.input)"))
                for effect in decided { console.remark("  " + TerminalText.escaped("\(effect)")) }
            }
            effects += decided
        }
        let now = effects.map(\.fingerprint)
        guard now != line.effects else { return effects.count }
        let place = zip(now, line.effects).prefix { $0 == $1 }.count
        let then = place < line.effects.count ? line.effects[place] : "nothing"
        let decided = place < effects.count ? "\(effects[place])" : "nothing"
        throw otherwise(
            number,
            line.inputs.first,
            "decision \(place + 1) was \(then) and is now \(decided.prefix(400))"
        )
    }

    private func otherwise(
        _ number: Int,
        _ entry: SchedulerInput.Entry?,
        _ why: String
    ) -> CommandFailure {
        let what = entry.map { " at \(Timestamp.text(unixNanoseconds: $0.at.unix))" } ?? ""
        return CommandFailure(
            .failure,
            TerminalText.escaped("line \(number)\(what) comes out otherwise: \(why)"),
            fix: "a journal can be replayed by the version that wrote it"
        )
    }
}
