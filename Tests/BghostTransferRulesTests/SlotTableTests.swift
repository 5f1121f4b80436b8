// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostTransferRules
import BghostTestSupport
import Testing

@Suite struct SlotTableTests {
    private func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    @Test func firstComeFirstServed() {
        var table = SlotTable(totalMax: 3, perServerMax: 2)
        for number in 1...4 { table.want(id(number), server: "a") }
        table.want(id(5), server: "b")
        // The busy server does not hold up the other one.
        #expect(table.grant() == [id(1), id(2), id(5)])
        table.free(id(1))
        #expect(table.grant() == [id(3)])
        table.unwant(id(4))
        table.free(id(2))
        #expect(table.grant().isEmpty)
    }

    @Test func aSlotMovesOnlyToWhereThereIsOne() {
        var table = SlotTable(totalMax: 9, perServerMax: 1)
        table.want(id(1), server: "a")
        table.want(id(2), server: "b")
        #expect(table.grant() == [id(1), id(2)])
        let early = table.move(id(1), to: "b")
        #expect(!early)
        table.free(id(2))
        let late = table.move(id(1), to: "b")
        #expect(late)
        table.want(id(3), server: "a")
        #expect(table.grant() == [id(3)])
    }

    @Test(arguments: SeededGenerator.seeds(16)) func boundsHold(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = SlotTable(totalMax: 5, perServerMax: 2)
        var held: [Int: String] = [:]
        var wanted: [Int: String] = [:]
        for step in 0..<2000 {
            let number = Int.random(in: 0..<40, using: &generator)
            let server = ["a", "b", "c", "d"][Int.random(in: 0..<4, using: &generator)]
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                table.want(id(number), server: server)
                if held[number] == nil, wanted[number] == nil { wanted[number] = server }
            case 2:
                table.unwant(id(number))
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
            // Nobody waits who could be served.
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

    @Test func aSessionEndsWithItsLastTransfer() {
        var book = SessionBook()
        book.begin(id(1), key: "a", in: session)
        book.begin(id(2), key: "b", in: session)
        book.end(id(2), key: "b", in: session, isTaken: false)
        #expect(book.complete(session) == nil)
        book.end(id(1), key: "a", in: session, isTaken: false)
        #expect(book.complete(session) == [id(1), id(2)])
    }

    @Test func anEndIsToldUntilItIsDealtWith() {
        var book = SessionBook()
        book.begin(id(1), key: "a", in: session)
        book.end(id(1), key: "a", in: session, isTaken: false)
        book.begin(id(2), key: "b", in: session)
        #expect(book.complete(session) == nil)
        book.end(id(2), key: "b", in: session, isTaken: false)
        #expect(book.complete(session) == [id(1), id(2)])
        #expect(book.acknowledge([id(1), id(9)], in: session) == [id(1)])
        #expect(book.acknowledge([id(1)], in: session).isEmpty)
        #expect(book.complete(session) == [id(2)])
        _ = book.acknowledge([id(2)], in: session)
        #expect(book == SessionBook())
    }

    @Test func whatSomebodyWaitedForIsNotTold() {
        var book = SessionBook()
        book.begin(id(1), key: "a", in: session)
        book.end(id(1), key: "a", in: session, isTaken: true)
        #expect(book.complete(session) == nil)
        #expect(book == SessionBook())
    }

    @Test func theSameIsFoundWhileItIsUnderWay() {
        var book = SessionBook()
        book.begin(id(1), key: "a", in: session)
        #expect(book.existing("a", in: session) == id(1))
        #expect(book.existing("b", in: session) == nil)
        #expect(book.existing("a", in: SessionKey(plugin: "q", session: "s")) == nil)
        book.end(id(1), key: "a", in: session, isTaken: false)
        #expect(book.existing("a", in: session) == nil)
    }
}
