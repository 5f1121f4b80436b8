// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostTransferRules
import BghostTestSupport
import Testing

@Suite struct SlotTableTests {
    private func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    @Test func `First come first served`() {
        var table = SlotTable(totalMax: 3, perServerMax: 2)
        for number in 1...4 { table.request(id(number), server: "a") }
        table.request(id(5), server: "b")
        // The busy server does not hold up the other one.
        #expect(table.grant() == [id(1), id(2), id(5)])
        table.free(id(1))
        #expect(table.grant() == [id(3)])
        table.withdraw(id(4))
        table.free(id(2))
        #expect(table.grant().isEmpty)
    }

    @Test func `Requests that are withdrawn at a busy server leave nothing`() {
        var table = SlotTable(totalMax: 1, perServerMax: 1)
        table.request(id(1), server: "a")
        table.request(id(2), server: "a")
        #expect(table.grant() == [id(1)])
        for number in 3...10_000 {
            table.request(id(number), server: "a")
            table.withdraw(id(number))
        }
        #expect(table.size < 200)
        table.free(id(1))
        #expect(table.grant() == [id(2)])
        table.free(id(2))
        #expect(table.grant().isEmpty)
    }

    @Test func `A slot moves only to where there is one`() {
        var table = SlotTable(totalMax: 9, perServerMax: 1)
        table.request(id(1), server: "a")
        table.request(id(2), server: "b")
        #expect(table.grant() == [id(1), id(2)])
        let early = table.move(id(1), to: "b")
        #expect(!early)
        table.free(id(2))
        let late = table.move(id(1), to: "b")
        #expect(late)
        table.request(id(3), server: "a")
        #expect(table.grant() == [id(3)])
    }

    @Test(arguments: SeededGenerator.seeds(16)) func `The bounds of slots hold`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = SlotTable(totalMax: 5, perServerMax: 2)
        var held: [Int: String] = [:]
        var wanted: [Int: String] = [:]
        for step in 0..<2000 {
            let number = Int.random(in: 0..<40, using: &generator)
            let server = ["a", "b", "c", "d"][Int.random(in: 0..<4, using: &generator)]
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                table.request(id(number), server: server)
                if held[number] == nil, wanted[number] == nil { wanted[number] = server }
            case 2:
                table.withdraw(id(number))
                wanted[number] = nil
            case 3:
                table.free(id(number))
                held[number] = nil
            default:
                let isFree = held.values.count { $0 == server } < 2
                let before = held[number]
                let isMoved = table.move(id(number), to: server)
                #expect(isMoved == (before != nil && (before == server || isFree)), "step \(step)")
                if isMoved { held[number] = server }
            }
            for granted in table.grant() {
                let number = Int(granted.low)
                held[number] = wanted.removeValue(forKey: number)
                #expect(held[number] != nil)
            }
            #expect(table.heldCount == held.count)
            #expect(held.count <= 5)
            for server in ["a", "b", "c", "d"] {
                #expect(held.values.count { $0 == server } <= 2)
            }
            // No transfer waits that could have a slot.
            let isStarved = wanted.values.contains { server in
                held.count < 5 && held.values.count { $0 == server } < 2
            }
            #expect(!isStarved, "step \(step)")
        }
    }
}

@Suite struct SessionBookTests {
    private let session = SessionKey(plugin: "p", session: "s")

    private func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    @Test func `A session ends with its last transfer`() {
        var index = SessionIndex()
        index.begin(id(1), key: "a", in: session)
        index.begin(id(2), key: "b", in: session)
        index.end(id(2), key: "b", in: session, isTaken: false)
        #expect(index.report(session) == nil)
        index.end(id(1), key: "a", in: session, isTaken: false)
        #expect(index.report(session) == [id(1), id(2)])
    }

    @Test func `An end is reported once, and again when it is recovered`() {
        var index = SessionIndex()
        index.begin(id(1), key: "a", in: session)
        index.end(id(1), key: "a", in: session, isTaken: false)
        index.begin(id(2), key: "b", in: session)
        #expect(index.report(session) == nil)
        index.end(id(2), key: "b", in: session, isTaken: false)
        #expect(index.report(session) == [id(1), id(2)])
        #expect(index.report(session) == nil)
        #expect(index.acknowledge([id(1), id(9)], in: session) == [id(1)])
        #expect(index.acknowledge([id(1)], in: session).isEmpty)
        #expect(index.report(session) == nil)
        index.recover(ended: id(2), in: session)
        #expect(index.report(session) == [id(2)])
        _ = index.acknowledge([id(2)], in: session)
        #expect(index == SessionIndex())
    }

    @Test func `Ten thousand ends one after the other are ten thousand reports of one end`() {
        var index = SessionIndex()
        var reported = 0
        for number in 0..<10_000 {
            index.begin(id(number), key: "\(number)", in: session)
            index.end(id(number), key: "\(number)", in: session, isTaken: false)
            reported += index.report(session)?.count ?? 0
        }
        #expect(reported == 10_000)
        #expect(index.acknowledge((0..<10_000).map { id($0) }, in: session).count == 10_000)
        #expect(index == SessionIndex())
    }

    @Test func `A transfer that a run awaited is not in the wake`() {
        var index = SessionIndex()
        index.begin(id(1), key: "a", in: session)
        index.end(id(1), key: "a", in: session, isTaken: true)
        #expect(index.report(session) == nil)
        #expect(index == SessionIndex())
    }

    @Test func `The same request is found while it is under way`() {
        var index = SessionIndex()
        index.begin(id(1), key: "a", in: session)
        #expect(index.existing("a", in: session) == id(1))
        #expect(index.existing("b", in: session) == nil)
        #expect(index.existing("a", in: SessionKey(plugin: "q", session: "s")) == nil)
        index.end(id(1), key: "a", in: session, isTaken: false)
        #expect(index.existing("a", in: session) == nil)
    }
}
