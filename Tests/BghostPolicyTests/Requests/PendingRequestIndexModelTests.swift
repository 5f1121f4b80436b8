// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The pendingIndex against a model that has no heaps: every request in a list, searched each time.
@Suite struct PendingRequestIndexModelTests {
    private struct Model {
        var waiting: [(request: Request, entry: Int, order: Int)] = []
        var running = [0, 0, 0, 0]
        var order = 0

        mutating func accept(_ request: Request, _ entry: Int) {
            if !request.isManual {
                waiting.removeAll { $0.entry == entry && !$0.request.isManual }
            }
            order += 1
            waiting.append((request, entry, order))
        }

        /// The request of an entry that would run first: simulated ones before its own.
        func first(of entry: Int, now: Int64) -> (request: Request, entry: Int, order: Int)? {
            let all = waiting.filter { $0.entry == entry }
            return all.first { $0.request.isManual }
                ?? all.first { $0.request.earliestBegin ?? 0 <= now }
        }

        func next(now: Int64, overlaps: [Overlap]) -> PendingRequestIndex.Decision? {
            let best = overlaps.indices
                .filter { running[$0] == 0 || overlaps[$0] == .allow || overlaps[$0] == .skip }
                .compactMap { first(of: $0, now: now) }
                .min { ($1.request.priority, $0.order) < ($0.request.priority, $1.order) }
            return best.map {
                running[$0.entry] > 0 && overlaps[$0.entry] == .skip
                    ? .skipped($0.request, entry: $0.entry) : .start($0.request, entry: $0.entry)
            }
        }
    }

    static let overlaps: [Overlap] = [.queue, .skip, .replace, .allow]

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(12))
    func `Behaves like a list`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = Line()
        var model = Model()
        for overlap in Self.overlaps { _ = line.entry("\(overlap)", overlap) }
        var number = 0
        for _ in 0..<3_000 {
            let entry = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                number += 1
                let request = Self.request(number, line.now, &random)
                _ = line.pendingIndex.accept(request, entry: entry, now: line.now)
                model.accept(request, entry)
            case 3:
                let gone = line.pendingIndex.withdraw(entry: entry)
                let index = model.waiting.firstIndex {
                    $0.entry == entry && !$0.request.isManual
                }
                #expect(gone == index.map { model.waiting.remove(at: $0).request })
            case 4:
                guard model.running[entry] > 0 else { continue }
                model.running[entry] -= 1
                line.pendingIndex.finished(entry: entry, now: line.now)
            case 5:
                line.now += Int64.random(in: 0..<50, using: &random)
                line.pendingIndex.becomeDue(now: line.now)
            default:
                drain(&line, &model)
            }
            #expect(line.pendingIndex.entries.waitingTotal == model.waiting.count)
        }
        let left = Set(model.waiting.map(\.request.id))
        for id in 0...number {
            #expect(line.pendingIndex.contains(Line.id(id)) == left.contains(Line.id(id)))
        }
    }

    private func drain(_ line: inout Line, _ model: inout Model) {
        while true {
            let expected = model.next(now: line.now, overlaps: Self.overlaps)
            var decision = line.pendingIndex.next(now: line.now) { _, _ in true }
            // It asks for the place of a run; the model knows only what runs.
            while case .displace(let entry) = decision {
                #expect(Self.overlaps[entry] == .replace && model.running[entry] > 0)
                decision = line.pendingIndex.next(now: line.now) { _, _ in true }
            }
            #expect(decision == expected)
            switch decision {
            case .start(let request, let entry):
                model.running[entry] += 1
                model.waiting.removeAll { $0.request.id == request.id }
                #expect(line.pendingIndex.entries[entry].running == model.running[entry])
            case .skipped(let request, _):
                model.waiting.removeAll { $0.request.id == request.id }
            default: return
            }
        }
    }

    private static func request(
        _ number: Int,
        _ now: Int64,
        _ random: inout SeededGenerator
    ) -> Request {
        Request(
            id: Line.id(number),
            task: "t",
            parameters: "{}",
            submittedAt: now,
            earliestBegin: Bool.random(using: &random)
                ? nil : now + Int64.random(in: -20..<80, using: &random),
            priority: Int.random(in: 0...3, using: &random) * 300,
            isManual: Int.random(in: 0..<4, using: &random) == 0
        )
    }
}
