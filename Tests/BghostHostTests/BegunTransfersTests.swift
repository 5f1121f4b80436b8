// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferBridge
import Testing

/// Which transfers excuse a late stop, and for which a run may still wait.
@Suite struct BegunTransfersTests {
    private static let first = RunID(high: 1, low: 1)
    private static let second = RunID(high: 1, low: 2)

    /// A value whose methods may be called in an expectation.
    private final class Begun {
        var value = BegunTransfers()

        var isEmpty: Bool { value == BegunTransfers() }

        func cancelled(_ run: UInt64, awaiting transfers: [RunID]) -> Bool {
            value.cancelled(run, awaiting: transfers)
        }

        func continues(without run: UInt64) -> Bool { value.continues(without: run) }
    }

    /// A run has begun a transfer, and the engine has taken it.
    private static func begun(by run: UInt64 = 7) -> Begun {
        let begun = Begun()
        begun.value.begin(first, by: run)
        begun.value.taken(first, as: nil, by: run, isOver: false)
        return begun
    }

    @Test func `A transfer that a cancelled run leaves continues without it`() {
        let begun = Self.begun()
        #expect(begun.value.mayBeAwaited(Self.first))
        #expect(begun.cancelled(7, awaiting: []))
        // Its session may be woken now.
        #expect(!begun.value.mayBeAwaited(Self.first))
        #expect(begun.continues(without: 7))
        // Nothing is kept of a run that has ended.
        #expect(begun.isEmpty)
    }

    @Test func `A run that was not cancelled leaves nothing`() {
        let begun = Self.begun()
        #expect(!begun.continues(without: 7))
        begun.value.ended(7)
        #expect(begun.isEmpty)
    }

    @Test func `A transfer that another run began counts for that run only`() {
        let begun = Self.begun(by: 8)
        #expect(!begun.cancelled(7, awaiting: []))
        #expect(!begun.continues(without: 7))
        #expect(begun.value.mayBeAwaited(Self.first))
    }

    @Test func `The first run may still wait when a second one that began the same has ended`() {
        let begun = Self.begun()
        begun.value.begin(Self.second, by: 8)
        begun.value.taken(Self.second, as: Self.first, by: 8, isOver: false)
        begun.value.ended(8)
        #expect(begun.value.mayBeAwaited(Self.first))
        begun.value.ended(7)
        #expect(begun.isEmpty)
    }

    @Test func `A second run may still wait when the first one was cancelled`() {
        let begun = Self.begun()
        begun.value.begin(Self.second, by: 8)
        begun.value.taken(Self.second, as: Self.first, by: 8, isOver: false)
        #expect(begun.cancelled(7, awaiting: []))
        #expect(begun.continues(without: 7))
        #expect(begun.value.mayBeAwaited(Self.first))
        begun.value.ended(8)
        #expect(begun.isEmpty)
    }

    @Test func `A transfer for which a cancelled run waits continues without it`() {
        let begun = Begun()
        #expect(!begun.cancelled(7, awaiting: [Self.first]))
        #expect(begun.continues(without: 7))
    }

    /// Whether the cancel comes before the answer.
    @Test(arguments: [false, true])
    func `A begin that is refused excuses nothing`(isUnderWay: Bool) {
        let begun = Begun()
        begun.value.begin(Self.first, by: 7)
        if isUnderWay { #expect(begun.cancelled(7, awaiting: [])) }
        begun.value.refused(Self.first)
        if !isUnderWay { #expect(!begun.cancelled(7, awaiting: [])) }
        #expect(!begun.continues(without: 7))
        #expect(begun.isEmpty)
    }

    @Test func `A begin that is under way at the cancel counts once it is taken`() {
        let begun = Begun()
        begun.value.begin(Self.first, by: 7)
        #expect(begun.cancelled(7, awaiting: []))
        begun.value.taken(Self.first, as: nil, by: 7, isOver: false)
        #expect(!begun.value.mayBeAwaited(Self.first))
        #expect(begun.continues(without: 7))
    }

    @Test func `A begin in the grace counts once it is taken`() {
        let begun = Begun()
        #expect(!begun.cancelled(7, awaiting: []))
        begun.value.begin(Self.first, by: 7)
        // A cancelled run can wait for nothing.
        #expect(!begun.value.mayBeAwaited(Self.first))
        begun.value.taken(Self.first, as: nil, by: 7, isOver: false)
        #expect(begun.continues(without: 7))
        #expect(begun.isEmpty)
    }

    @Test func `A begin that is answered after the end of its run leaves nothing behind`() {
        let begun = Begun()
        begun.value.begin(Self.first, by: 7)
        #expect(begun.cancelled(7, awaiting: []))
        #expect(!begun.continues(without: 7))
        begun.value.ended(7)
        begun.value.taken(Self.first, as: nil, by: 7, isOver: true)
        #expect(begun.isEmpty)
    }

    @Test func `An earlier transfer that the engine takes for the new one counts in its place`() {
        let begun = Begun()
        begun.value.begin(Self.first, by: 7)
        begun.value.taken(Self.first, as: Self.second, by: 7, isOver: false)
        #expect(!begun.value.mayBeAwaited(Self.first) && begun.value.mayBeAwaited(Self.second))
        #expect(begun.cancelled(7, awaiting: []))
        begun.value.finished(Self.second)
        #expect(!begun.continues(without: 7))
    }

    /// Whether the cancel of the run comes first.
    @Test(arguments: [false, true])
    func `A transfer that the plugin acknowledged excuses nothing`(isCancelled: Bool) {
        let begun = Self.begun()
        if isCancelled { #expect(begun.cancelled(7, awaiting: [Self.first])) }
        begun.value.finished(Self.first)
        if !isCancelled { #expect(!begun.cancelled(7, awaiting: [])) }
        #expect(!begun.continues(without: 7))
        #expect(begun.isEmpty)
    }

    @Test(arguments: [false, true])
    func `A transfer that the plugin cancelled excuses nothing, and may be awaited`(
        isCancelled: Bool
    ) {
        let begun = Self.begun()
        if isCancelled { #expect(begun.cancelled(7, awaiting: [Self.first])) }
        begun.value.gaveUp(Self.first)
        #expect(begun.value.mayBeAwaited(Self.first) == !isCancelled)
        if !isCancelled { #expect(begun.cancelled(7, awaiting: [Self.first])) }
        #expect(!begun.continues(without: 7))
    }

    @Test func `One transfer that continues is enough`() {
        let begun = Self.begun()
        begun.value.begin(Self.second, by: 7)
        begun.value.taken(Self.second, as: nil, by: 7, isOver: false)
        begun.value.finished(Self.first)
        #expect(begun.cancelled(7, awaiting: []))
        #expect(begun.continues(without: 7))
    }
}
