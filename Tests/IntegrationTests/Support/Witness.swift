// SPDX-License-Identifier: Apache-2.0

import BghostModel
import Synchronization
import Testing

extension RunningHost {
    /// Runs a task while those of other plugins go on, and holds them to be undisturbed by it.
    func runBesideOthers(_ task: String, _ parameters: String = "{}") async throws -> RunRecord {
        let isOver = Flag()
        async let others = runOthers(until: isOver)
        let record: RunRecord
        do {
            record = try await run(task, parameters)
        } catch {
            isOver.raise()
            throw error
        }
        isOver.raise()
        let outcomes = try await others
        #expect(outcomes.count >= 2)
        #expect(outcomes.allSatisfy { $0 == .succeeded }, "\(task) disturbs others: \(outcomes)")
        try await expectNamed(record)
        return record
    }

    /// Holds the log to name the plugin and the outcome of a run that has ended.
    func expectNamed(_ record: RunRecord) async throws {
        let outcome = try #require(record.outcome)
        let line = try await line(LogFilter(run: record.id)) { $0.event == "run.ended" }
        #expect(line.plugin == record.plugin && line.task == record.task)
        #expect(line.message.hasPrefix(outcome.text), "\(line.message)")
        #expect(line.level == (outcome == .succeeded ? .info : .warning))
    }

    private func runOthers(until isOver: Flag) async throws -> [Outcome?] {
        var outcomes: [Outcome?] = []
        repeat {
            outcomes.append(try await run("witness.nap").outcome)
            outcomes.append(try await run("witness.echo", #"{"a":1}"#).outcome)
        } while !isOver.isRaised
        return outcomes
    }
}

/// Something that happens once.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}
