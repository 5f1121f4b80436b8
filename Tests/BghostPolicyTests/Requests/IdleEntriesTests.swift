// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Identifiers that the index forgets when nothing needs them.
@Suite struct IdleEntriesTests {
    /// An index, and the numbers that it gave to identifiers.
    private struct Side {
        var index = PendingRequestIndex(slots: 3)
        let forgets: Bool

        mutating func entry(_ name: Int) -> Int {
            index.entry(
                for: "org.example.\(name)",
                definition: name % 4,
                group: name % 3,
                handlerQueue: name % 5,
                overlap: Self.overlaps[name % 4],
                isNamed: !forgets
            )
        }

        func known(_ name: Int) -> Int? { index.entry(of: "org.example.\(name)") }

        mutating func forgetIdle() {
            while let entry = index.nextIdle() { index.release(entry) }
        }

        static let overlaps: [Overlap] = [.queue, .skip, .replace, .allow]
    }

    /// The same histories with and without forgetting; `running` has the names of runs.
    private struct History {
        var forgetting = Side(forgets: true)
        var keeping = Side(forgets: false)
        var now: Int64 = 0
        var number = 0
        var running: [Int] = []
        /// Requests with this last digit cannot start.
        var refused = 0

        mutating func both<Answer: Equatable>(_ event: (inout Side) -> Answer) -> Answer {
            let answer = event(&forgetting)
            let expected = event(&keeping)
            #expect(answer == expected)
            return answer
        }

        mutating func submit(_ name: Int, _ random: inout SeededGenerator) {
            number += 1
            let now = now
            let kind = Int.random(in: 0..<6, using: &random)
            let request = Request(
                id: Line.id(number),
                task: "org.example.\(name)",
                parameters: "{}",
                submittedAt: now,
                earliestBegin: Bool.random(using: &random)
                    ? nil : now + Int64.random(in: -20..<80, using: &random),
                latestBegin: Bool.random(using: &random)
                    ? nil : now + Int64.random(in: 80..<200, using: &random),
                priority: Int.random(in: 0...3, using: &random) * 300,
                isManual: kind == 0,
                counters: AttemptCounters(failures: kind == 1 ? 1 : 0)
            )
            let replaced = both { side in
                side.index.accept(request, entry: side.entry(name), now: now)?.id
            }
            #expect(replaced == nil || kind > 1)
        }

        mutating func drain() {
            let (now, refused) = (now, refused)
            var displaced = 0
            while running.count < 3 {
                let decided = both { side in
                    let decision = side.index.next(now: now) { request, _ in
                        request.id.low % 10 != refused
                    }
                    return Self.text(decision, side)
                }
                guard let decided else { return }
                let words = decided.split(separator: " ")
                let name = Int(words[1].dropFirst("org.example.".count)) ?? -1
                switch words[0] {
                case "start":
                    running.append(name)
                    setSerialQueue(of: name, isOpen: false)
                case "displace":
                    displaced += 1
                    guard displaced < 100 else { return }
                default: break
                }
            }
        }

        /// The runs of two handlers exclude one another.
        mutating func setSerialQueue(of name: Int, isOpen: Bool) {
            let queue = name % 5
            guard queue < 2 else { return }
            _ = both { side in
                side.index.set(handlerQueue: queue, isOpen: isOpen, isShared: false)
                return true
            }
        }

        static func text(_ decision: PendingRequestIndex.Decision?, _ side: Side) -> String? {
            switch decision {
            case nil: nil
            case .start(let request, let entry):
                "start \(side.index.entries[entry].identifier) \(request.id.low)"
            case .skipped(let request, let entry):
                "skipped \(side.index.entries[entry].identifier) \(request.id.low)"
            case .missed(let request, let entry):
                "missed \(side.index.entries[entry].identifier) \(request.id.low)"
            case .paused(let request, let entry):
                "paused \(side.index.entries[entry].identifier) \(request.id.low)"
            case .served(let request, let entry):
                "served \(side.index.entries[entry].identifier) \(request.id.low)"
            case .displace(let entry): "displace \(side.index.entries[entry].identifier)"
            }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(12))
    func `Removing idle entries changes no decision`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var history = History()
        for step in 0..<4_000 {
            let name = Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4: history.submit(name, &random)
            case 4:
                _ = history.both { side in
                    side.known(name).flatMap { side.index.withdraw(entry: $0)?.id }
                }
            case 5:
                _ = history.both { side in
                    side.known(name).map { side.index.withdrawAll(entry: $0).map(\.id) } ?? []
                }
            case 6:
                guard let ended = history.running.popLast() else { continue }
                let now = history.now
                _ = history.both { side in
                    guard let entry = side.known(ended) else { return false }
                    side.index.finished(entry: entry, now: now)
                    return true
                }
                history.setSerialQueue(of: ended, isOpen: true)
            case 7:
                history.now += Int64.random(in: 0..<60, using: &random)
                let now = history.now
                _ = history.both {
                    $0.index.becomeDue(now: now)
                    return true
                }
            case 8:
                // As after a change of a requirement, all that wait are checked again.
                history.refused = Int.random(in: 0..<10, using: &random)
                let now = history.now
                _ = history.both { side in
                    for name in 0..<40 {
                        if let entry = side.known(name) {
                            side.index.recheck(entry: entry, now: now)
                        }
                    }
                    return true
                }
            default: history.drain()
            }
            history.forgetting.forgetIdle()
            guard step % 100 == 0 else { continue }
            expectTheSame(history)
        }
        expectTheSame(history)
        #expect(history.keeping.index.entries.count == 40)
        #expect(history.forgetting.index.entries.indices.count <= 40)
    }

    /// The index keeps exactly the identifiers with a request or a run, and the same requests.
    private func expectTheSame(_ history: History) {
        var used = 0
        for name in 0..<40 {
            let known = history.keeping.known(name).map { history.keeping.index.entries[$0] }
            let mine = history.forgetting.known(name).map { history.forgetting.index.entries[$0] }
            let isUsed = known.map { !$0.requests.isEmpty || $0.running > 0 } ?? false
            #expect((mine != nil) == isUsed)
            #expect(mine?.requests.map(\.id) ?? [] == known?.requests.map(\.id) ?? [])
            #expect(mine?.running ?? 0 == known?.running ?? 0)
            used += isUsed ? 1 : 0
        }
        #expect(history.forgetting.index.entries.count == used)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A million identifiers one after another use the rows of one`() {
        var line = Line()
        for number in 0..<1_000_000 {
            line.now += 1_000_000
            let entry = line.pendingIndex.entry(
                for: "member.\(number)",
                definition: 0,
                overlap: .queue,
                isNamed: false
            )
            // Each leaves a stale alarm for a date in the future behind.
            line.submit(number, entry, earliest: line.now + 1_000_000_000)
            #expect(line.pendingIndex.withdraw(entry: entry) != nil)
            line.submit(number, entry)
            #expect(line.pendingIndex.next(now: line.now) { _, _ in true } != nil)
            line.pendingIndex.finished(entry: entry, now: line.now)
            while let idle = line.pendingIndex.nextIdle() { line.pendingIndex.release(idle) }
        }
        #expect(line.pendingIndex.entries.indices.count == 1)
        #expect(line.pendingIndex.entries.kindCount == 0)
        #expect(line.pendingIndex.idle.isEmpty)
        // A heap is rebuilt when 1,024 of its entries are stale and most are.
        #expect(line.pendingIndex.waiting.size < 5_000)
        #expect(line.pendingIndex.groups[0].ready.size < 5_000)
    }

    @Test func `A reused row does not keep the dates of its former identifier`() {
        var line = Line()
        let former = line.pendingIndex.entry(
            for: "former",
            definition: 0,
            overlap: .queue,
            isNamed: false
        )
        line.submit(1, former, earliest: 100)
        #expect(line.pendingIndex.withdraw(entry: former) != nil)
        #expect(line.pendingIndex.nextIdle() == former)
        line.pendingIndex.release(former)
        #expect(line.pendingIndex.entry(of: "former") == nil)
        let next = line.pendingIndex.entry(for: "next", definition: 0, overlap: .queue)
        #expect(next == former)
        line.submit(2, next, earliest: 200)
        line.now = 150
        line.pendingIndex.becomeDue(now: line.now)
        #expect(line.drain().isEmpty)
        line.now = 200
        line.pendingIndex.becomeDue(now: line.now)
        #expect(line.drain() == ["start 2"])
    }

    @Test func `The memory of a forgotten identifier no longer counts for its plugin`() {
        var line = Line()
        let entry = line.pendingIndex.entry(
            for: "member",
            definition: 0,
            group: 1,
            overlap: .queue,
            isNamed: false
        )
        line.pendingIndex.notePluginEntry(entry)
        #expect(line.pendingIndex.heldBytes(ofGroup: 1) > 0)
        #expect(line.pendingIndex.nextIdle() == entry)
        line.pendingIndex.release(entry)
        #expect(line.pendingIndex.heldBytes(ofGroup: 1) == 0)
    }
}
