// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

@Suite struct TimerHeapTests {
    @Test func `An empty heap has nothing`() {
        var heap = TimerHeap()
        #expect(heap.next == nil)
        #expect(heap.count == 0)
        #expect(heap.popDue(now: .max) { _, _ in true } == nil)
    }

    @Test func `Comes up in order and not before`() {
        var heap = TimerHeap()
        for deadline: UInt64 in [5, 1, 4, 1, 3, .max, 0] {
            heap.insert(deadline: deadline, token: deadline)
        }
        #expect(heap.count == 7)
        var popped: [UInt64] = []
        while let token = heap.popDue(now: 3, isLive: { _, _ in true }) { popped.append(token) }
        #expect(popped == [0, 1, 1, 3])
        #expect(heap.next == 4)
        #expect(heap.count == 3)
    }

    @Test func `Removed timers are skipped`() {
        var heap = TimerHeap()
        for token: UInt64 in 1...3 { heap.insert(deadline: token, token: token) }
        heap.forget { token, _ in token != 1 }
        #expect(heap.count == 2)
        // The earliest may be a forgotten one.
        #expect(heap.next == 1)
        #expect(heap.popDue(now: 9) { token, _ in token != 1 } == 2)
        #expect(heap.count == 1)
    }

    /// A token that is armed again is the same with another deadline.
    @Test func `Returns the deadline of a token`() {
        var heap = TimerHeap()
        heap.insert(deadline: 10, token: 7)
        heap.insert(deadline: 20, token: 7)
        #expect(heap.popDue(now: 15) { _, deadline in deadline == 20 } == nil)
        #expect(heap.popDue(now: 20) { _, deadline in deadline == 20 } == 7)
    }

    private struct Model {
        var live: [UInt64: UInt64] = [:]

        var earliest: UInt64? { live.values.min() }
    }

    @Test(arguments: SeededGenerator.seeds(6))
    func `Behaves like a sorted list`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var model = Model()
        var token: UInt64 = 0
        // Few are due at a time in one half of the seeds, most in the other.
        let horizon: UInt64 = seed % 2 == 0 ? 100_000 : 1_000
        for now in UInt64(0)..<10_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                token += 1
                let deadline = now + UInt64.random(in: 0..<horizon, using: &random)
                heap.insert(deadline: deadline, token: token)
                model.live[token] = deadline
            case 5..<9:
                guard let victim = model.live.keys.min() else { continue }
                model.live[victim] = nil
                heap.forget { token, _ in model.live[token] != nil }
            default:
                var last: UInt64 = 0
                while let due = heap.popDue(now: now, isLive: { model.live[$0] == $1 }) {
                    let deadline = model.live.removeValue(forKey: due)
                    #expect(deadline.map { $0 <= now && $0 >= last } == true)
                    last = deadline ?? last
                }
                #expect(model.earliest.map { $0 > now } != false)
            }
            #expect(heap.count == model.live.count)
        }
        var rest: [UInt64] = []
        while let due = heap.popDue(now: .max, isLive: { model.live[$0] == $1 }) {
            rest.append(model.live[due] ?? 0)
            model.live[due] = nil
        }
        #expect(rest == rest.sorted())
        #expect(model.live.isEmpty)
    }

    /// Runs of microseconds under limits of minutes: what is forgotten must not stay for minutes.
    @Test(.timeLimit(.minutes(5)))
    func `Removed timers do not accumulate`() {
        var heap = TimerHeap()
        for token in UInt64(0)..<1_000_000 {
            heap.insert(deadline: 1_000_000_000 + token, token: token)
            heap.forget { live, _ in live > token }
        }
        #expect(heap.count == 0)
        // Everything that was armed lies in the future, so what is left is what was kept.
        var kept = 0
        _ = heap.popDue(now: .max) { _, _ in
            kept += 1
            return false
        }
        #expect(kept <= 2_048)
    }
}
