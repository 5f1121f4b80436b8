// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostFacts
import BghostModel
import BghostPolicy
import BghostTestSupport

/// Answers to why and to simulations.
extension MemoryHost {
    // MARK: - What tests do

    func skip(_ start: SkippedStart) { skipped.append(start) }

    func say(_ explanation: TaskExplanation, to id: String) { explanations[id] = explanation }

    // MARK: - HostControl

    func skippedStarts(_ question: StartQuestion) -> SkippedStartPage {
        startQuestions.append(question)
        let found = skipped.filter { question.tasks?.matches($0.task) ?? true }
        let shown = Array(found.prefix(question.limit))
        return SkippedStartPage(
            starts: shown,
            next: found.count > shown.count
                ? shown.last.map { .init(due: $0.due, number: 7) } : nil
        )
    }

    func runDays(_ question: RunDayQuestion) throws(OperatorRefusal) -> RunDayPage {
        dayQuestions.append(question)
        if let cursor = question.cursor {
            guard case .days = cursor else {
                throw OperatorRefusal(.badCursor, "another list", fix: "give no cursor")
            }
        }
        var page = RunDayPage()
        for row in days where question.tasks?.matches(row.task) ?? true {
            guard page.add(row, limit: question.limit) else { break }
        }
        return page
    }

    func past(task: String, at time: String) throws(OperatorRefusal) -> PastExplanation {
        try requireTask(task)
        guard let at = Timestamp.unixNanoseconds(time) else {
            throw OperatorRefusal(.badTime, "`\(time)` is no time for `at`", fix: "give a date")
        }
        return PastExplanation(task: task, at: at, .init(starts: skipped))
    }

    func plan(_ question: PlanQuestion) throws(OperatorRefusal) -> API.Plan {
        planQuestions.append(question)
        if let task = question.task { try requireTask(task) }
        return APISamples.plan
    }

    func explain(_ id: String) throws(OperatorRefusal) -> TaskExplanation {
        if let explanation = explanations[id] { return explanation }
        try requireTask(id)
        return TaskExplanation(task: id, at: 1_700_000_000_000_000_000)
    }

    func simulate(fact text: String) throws(OperatorRefusal) -> SimulationStatus {
        do {
            let fact = try SimulatedFact(text, probes: [])
            let name = fact.requirement.name(probes: [])
            simulation.facts.removeAll { $0.name == name }
            if let value = fact.value { simulation.facts.append(.init(name: name, value: value)) }
            return simulation
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
    }

    func simulate(clock: SimulatedClock) throws(OperatorRefusal) -> SimulationStatus {
        do {
            simulation.clockOffset = try clock.offset(
                machine: 1_700_000_000_000_000_000,
                offset: simulation.clockOffset
            )
            return simulation
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
    }
}
