// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import BghostSimulation
internal import BghostTerminal

/// One event of a simulation, for `--trace`.
struct VirtualLine {
    private let at: Int64
    private let event: String
    private let task: String
    private let text: String

    init(_ now: Moment, _ event: Simulation.Event) {
        at = now.unix
        switch event {
        case .began(let record):
            (self.event, task) = ("run.began", record.task)
            text = "attempt \(record.attempt), epoch \(record.epoch)"
        case .ended(let record):
            (self.event, task) = ("run.ended", record.task)
            let after = record.duration.map { " after \(HumanText.duration($0))" } ?? ""
            text = (record.outcome?.text ?? "") + after
        case .note(let note): (self.event, task, text) = (note.code, note.task, note.message)
        case .fault(let fault): (self.event, task, text) = ("fault", "", "\(fault)")
        }
    }

    /// The event as a line of text.
    var line: String {
        "\(Timestamp.text(unixNanoseconds: at))  \(event)  \(TerminalText.escaped(task))  "
            + TerminalText.escaped(text) + "\n"
    }

    /// The event as a JSON object.
    var json: String {
        APICoder.text(API.SimulationEvent(at: at, event: event, task: task, message: text))
    }
}
