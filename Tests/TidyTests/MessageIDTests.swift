// SPDX-License-Identifier: Apache-2.0

import BghostServices
import Testing

/// The numbers of events in the journal.
@Suite struct MessageIDTests {
    @Test func `Each number is 128 bits and belongs to one event`() {
        let numbers = MessageID.table.values
        #expect(Set(numbers).count == numbers.count)
        for number in numbers {
            #expect(number.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(number)")
        }
    }

    private func isFileName(_ ending: Substring) -> Bool {
        [".json", ".d", ".dev.json"].contains(ending)
    }

    /// The literals of the daemon's modules that look like events: `run.ended`.
    @Test func `Each event of the daemon has a number, and each number an event`() throws {
        let roots = [
            "Sources/BghostHost", "Sources/BghostDispatch", "Sources/BghostServices/Reactor",
            "Sources/BghostServices/Log/LogPolicy.swift",
            "Sources/BghostCommand/Daemon", "Sources/BghostCommand/Replay", "Sources/BghostNotify",
            "Sources/BghostPolicy/Scheduler", "Sources/BghostTraces/TraceExporter.swift",
            "Sources/BghostTransferBridge",
        ]
        let prefixes = Set(MessageID.table.keys.compactMap { $0.split(separator: ".").first })
        var found: Set<String> = []
        for file in try SourceTree.files(in: roots, ending: ".swift") {
            for match in file.text.matches(of: /"([a-z]+)((?:\.[a-z_]+)+)"/)
            where prefixes.contains(match.output.1) && !isFileName(match.output.2) {
                let event = "\(match.output.1)\(match.output.2)"
                found.insert(event)
                #expect(MessageID.table[event] != nil, "\(file.path): \(event)")
            }
        }
        #expect(found.count > 80)
        for event in MessageID.table.keys {
            #expect(found.contains(event), "\(event) is written nowhere")
        }
    }
}
