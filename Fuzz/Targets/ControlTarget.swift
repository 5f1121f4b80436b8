// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostFacts
import BghostModel
import BghostPolicy

extension FuzzTarget {
    /// The body of a request to the control socket, or a text of its query.
    static let control = FuzzTarget("control", bytesMax: 64 << 10) {
        bytes throws(BrokenProperty) in
        try checkTerminal(String(decoding: bytes.prefix(4096), as: UTF8.self))
        try checkQuery(String(decoding: bytes.prefix(200), as: UTF8.self))
        for task in ["org.example.task", nil] {
            let submission: Submission
            do throws(ControlFault) {
                submission = try API.SubmitBody.read(bytes).submission(path: task)
            } catch {
                try check(error)
                continue
            }
            try require(
                task == nil || submission.task == task,
                "the body runs another task than the path names"
            )
            try require(
                JSONText.isObject(submission.parameters),
                "its parameters are \(submission.parameters)"
            )
            let text = written(submission)
            guard
                let again = try? API.SubmitBody.read(Array(text.utf8)).submission(path: task)
            else { throw BrokenProperty("its own words are refused: \(text)") }
            try require(written(again) == text, "\(text) becomes \(written(again))")
        }
        guard let json = try? JSONReader.parse(bytes) else { return }
        if let fault = ControlFault(answer: bytes, parsed: json) { _ = fault.description }
    }

    /// What others wrote, on its way to an operator's terminal.
    private static func checkTerminal(_ text: String) throws(BrokenProperty) {
        try checkEscape(text, TerminalText.escaped)
        var writer = JSONWriter()
        writer.value(text)
        let escaped = TerminalText.escapedJSON(writer.text)
        let read = try? JSONReader.parse(escaped)
        try require(
            read == JSONNode(.string(text)),
            "\(escaped.debugDescription) is no longer the same text"
        )
    }

    private static func written(_ submission: Submission) -> String {
        APICoder.text(API.SubmitBody(submission))
    }

    /// A fault says why, and is the same for the client that reads it.
    private static func check(_ fault: ControlFault) throws(BrokenProperty) {
        try MessageText.check(fault.description, bytesMax: 128 << 10)
        let answer = APICoder.json(API.Failure(fault))
        let read = (try? JSONReader.parse(answer)).flatMap {
            ControlFault(answer: answer, parsed: $0)
        }
        try require(read == fault, "the client reads another fault than \(fault)")
    }

    private static func checkQuery(_ text: String) throws(BrokenProperty) {
        do throws(SimulatedClock.Failure) {
            _ = try SimulatedClock(text)
        } catch {
            try MessageText.check(error.description)
        }
        do throws(SimulatedFact.Failure) {
            _ = try SimulatedFact(text, probes: ["vpn"])
        } catch {
            try MessageText.check(error.description)
        }
        if let id = RunID(text) {
            try require(RunID(id.description) == id, "\(id) is not itself")
            try require(id.description == text.uppercased(), "\(text) is \(id)")
        }
        if let range = RunID.range(ofPrefix: text) {
            let prefix = text.uppercased()
            for id in [range.lowerBound, range.upperBound] {
                try require(id.description.hasPrefix(prefix), "\(id) does not begin with \(text)")
            }
        }
        if let time = Timestamp.unixNanoseconds(text) {
            let again = Timestamp.unixNanoseconds(Timestamp.text(unixNanoseconds: time))
            let milliseconds = Timestamp.floorDivide(time, 1_000_000)
            // The earliest millisecond that can be said begins before 64 bits do.
            try require(
                again.map { Timestamp.floorDivide($0, 1_000_000) } ?? milliseconds == milliseconds,
                "\(text) is written as another time"
            )
        }
    }
}
