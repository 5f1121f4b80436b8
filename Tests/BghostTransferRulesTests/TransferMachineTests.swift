// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransferRules
import BghostTestSupport
import Testing

private let second: UInt64 = 1_000_000_000

/// A machine and its effects so far.
private struct Driver {
    var machine: TransferMachine
    var now: UInt64 = 1000 * second
    /// The random value, as a fraction of the largest one.
    var random: (UInt64) -> UInt64 = { $0 - 1 }

    init(
        isAttached: Bool = false,
        timeout: UInt64 = 3600 * second,
        isMet: Bool = true,
        policy: TransferMachine.Policy = .init()
    ) {
        machine = TransferMachine(
            status: TransferStatus(isDetached: !isAttached),
            idleTimeout: 60 * second,
            deadline: now + timeout,
            isMet: isMet,
            policy: policy
        )
    }

    @discardableResult
    mutating func feed(_ event: TransferMachine.Event) -> [TransferMachine.Effect] {
        var effects: [TransferMachine.Effect] = []
        machine.handle(event, now: now, unixNow: 7, random: random, &effects)
        return effects
    }

    /// Until an attempt is under way.
    mutating func begin() {
        feed(.stored)
        feed(.slot)
    }

    mutating func fail(
        _ code: TransferFault.Code = .connection,
        retryAfter: UInt64? = nil,
        hasProgressed: Bool = false
    ) -> [TransferMachine.Effect] {
        feed(
            .ended(
                .failed(
                    TransferFault(code, "x", status: 503),
                    retryAfter: retryAfter,
                    hasProgressed: hasProgressed
                )
            )
        )
    }
}

@Suite struct TransferMachineTests {
    @Test func `No transfer starts before it is stored`() {
        var driver = Driver()
        #expect(driver.feed(.slot) == [.free])
        #expect(driver.machine.state == .queued)
        #expect(driver.feed(.stored) == [.arm(4600 * second), .requestSlot])
        #expect(driver.feed(.slot) == [.arm(1060 * second), .begin])
        #expect(driver.machine.attempt == 1)
    }

    @Test func `An answer is the end`() {
        var driver = Driver()
        driver.begin()
        let answer = TransferAnswer(status: 200, bytes: 9)
        #expect(driver.feed(.ended(.done(answer))) == [.free, .save, .end])
        #expect(driver.machine.status.answer == answer)
        #expect(driver.machine.status.endedAt == 7)
        #expect(driver.feed(.cancel) == [])
        #expect(driver.machine.state == .done)
    }

    @Test func `Consecutive failures back off`() {
        var driver = Driver(timeout: 86_400 * second)
        driver.feed(.stored)
        var delays: [UInt64] = []
        for _ in 0..<12 {
            driver.feed(.slot)
            _ = driver.fail()
            let due = driver.machine.retryAt ?? 0
            delays.append((due - driver.now + 1) / second)
            driver.now = due
            driver.feed(.deadline(bytes: 0, lastMove: 0))
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
    }

    @Test func `Progress makes a failure the first in its row`() {
        var driver = Driver()
        driver.begin()
        for _ in 0..<3 {
            _ = driver.fail()
            driver.feed(.retryNow)
            driver.feed(.slot)
        }
        #expect(driver.machine.status.failures == 3)
        _ = driver.fail(hasProgressed: true)
        #expect(driver.machine.status.failures == 1)
    }

    @Test func `The server's Retry-After is kept`() {
        let sources: [(UInt64) -> UInt64] = [{ _ in 0 }, { $0 - 1 }]
        for random in sources {
            var driver = Driver()
            driver.random = random
            driver.begin()
            _ = driver.fail(.status, retryAfter: 90 * second)
            let due = driver.machine.retryAt ?? 0
            #expect((1090 * second...1091 * second).contains(due))
            driver.now = 1089 * second
            #expect(driver.feed(.deadline(bytes: 0, lastMove: 0)) == [.arm(due)])
        }
    }

    @Test func `A Retry-After beyond the deadline is not waited for`() {
        var driver = Driver(timeout: 60 * second)
        driver.begin()
        #expect(driver.fail(.status, retryAfter: 61 * second) == [.free, .save, .end])
        #expect(driver.machine.state == .failed)
    }

    @Test(arguments: TransferFault.Code.allCases)
    func `Only some faults are the end`(code: TransferFault.Code) {
        var driver = Driver()
        driver.begin()
        let effects = driver.fail(code)
        switch TransferFault(code, "x", status: 503).verdict {
        case .again:
            #expect(driver.machine.state == .retrying)
            #expect(!effects.contains(.forget))
        case .afresh:
            #expect(driver.machine.state == .retrying)
            #expect(effects.contains(.forget))
        case .final: #expect(driver.machine.state == .failed)
        }
    }

    @Test func `Repeated faults fail the transfer`() {
        var driver = Driver()
        driver.feed(.stored)
        for _ in 0..<3 {
            driver.feed(.slot)
            _ = driver.fail(.digest, hasProgressed: true)
            #expect(driver.machine.state == .retrying)
            driver.feed(.retryNow)
        }
        driver.feed(.slot)
        _ = driver.fail(.digest)
        #expect(driver.machine.state == .failed)
    }

    @Test func `Silence ends an attempt`() {
        var driver = Driver()
        driver.begin()
        driver.now += 60 * second
        #expect(
            driver.feed(.deadline(bytes: 4096, lastMove: 1030 * second)) == [.arm(1090 * second)]
        )
        driver.now += 30 * second
        let effects = driver.feed(.deadline(bytes: 4096, lastMove: 1030 * second))
        #expect(effects.starts(with: [.abandon, .free]))
        #expect(driver.machine.state == .retrying)
        #expect(driver.machine.status.fault?.code == .idle)
    }

    @Test func `A byte now and then counts as silence`() {
        var driver = Driver()
        driver.begin()
        var bytes: UInt64 = 0
        while driver.machine.state == .active, driver.now < 1300 * second {
            driver.now += 30 * second
            bytes += 1
            driver.feed(.deadline(bytes: bytes, lastMove: driver.now))
        }
        #expect(driver.machine.status.fault?.code == .idle)
        #expect(driver.now == 1060 * second)
    }

    @Test func `Slow is not silent`() {
        var driver = Driver()
        driver.begin()
        for step in 1...50 {
            driver.now += 60 * second
            driver.feed(.deadline(bytes: UInt64(step) * 1024, lastMove: driver.now - second))
        }
        #expect(driver.machine.state == .active)
    }

    @Test func `The time for all attempts is the end`() {
        for stop in ["active", "retrying", "waiting", "paused"] {
            var driver = Driver(timeout: 100 * second)
            driver.begin()
            switch stop {
            case "retrying": _ = driver.fail()
            case "waiting": driver.feed(.requirements(isMet: false))
            case "paused": driver.feed(.pause)
            default: break
            }
            #expect(driver.machine.state.rawValue == stop)
            driver.now += 100 * second
            let effects = driver.feed(.deadline(bytes: 1 << 20, lastMove: driver.now))
            #expect(effects.suffix(2) == [.save, .end])
            #expect(effects.contains(.free) == (stop == "active"))
            #expect(driver.machine.status.fault?.code == .expired)
        }
    }

    @Test func `A transfer waits for its requirements`() {
        var driver = Driver(isMet: false)
        #expect(driver.feed(.stored) == [.arm(4600 * second)])
        #expect(driver.feed(.requirements(isMet: true)) == [.requestSlot])
        driver.feed(.slot)
        let lost = driver.feed(.requirements(isMet: false))
        #expect(lost == [.abandon, .free, .arm(4600 * second)])
        #expect(driver.machine.state == .waiting)
        // It is no failure of anybody.
        #expect(driver.machine.status.failures == 0)
    }

    @Test func `A pause lasts until it is over`() {
        var driver = Driver()
        driver.begin()
        let paused = driver.feed(.pause)
        #expect(paused.starts(with: [.abandon, .free]))
        #expect(driver.feed(.requirements(isMet: false)) == [])
        #expect(driver.feed(.requirements(isMet: true)) == [])
        #expect(driver.feed(.resume) == [.requestSlot, .save])
    }

    @Test func `A waiting run may detach`() {
        var driver = Driver(isAttached: true)
        driver.begin()
        #expect(driver.feed(.attach) == [])
        #expect(driver.feed(.detach) == [])
        #expect(driver.feed(.detach) == [.save])
        #expect(driver.machine.status.isDetached)
        #expect(driver.machine.state == .active)
        #expect(driver.feed(.detach) == [])
        #expect(driver.feed(.attach) == [.save])
    }
}

/// A random number picks each event; what must always hold is checked after each step.
@Suite struct TransferMachineModelTests {
    @Test(arguments: SeededGenerator.seeds(64))
    func `What must always be so holds after each step`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 { Walk(isAttached: .random(using: &generator)).run(&generator) }
    }
}

/// One life, as its owner sees it.
private final class Walk {
    private var driver: Driver
    private var armed: UInt64?
    private var holdsSlot = false
    private var wantsSlot = false
    private var isUnderway = false
    private var ends = 0
    private var attempts = 0

    init(isAttached: Bool) {
        driver = Driver(isAttached: isAttached, timeout: 4000 * second)
    }

    func run(_ generator: inout SeededGenerator) {
        var random = generator
        driver.random = { UInt64.random(in: 0..<$0, using: &random) }
        for _ in 0..<200 where ends == 0 {
            driver.now += UInt64.random(in: 0...20, using: &generator) * second
            guard let event = event(&generator) else { continue }
            if event == .slot { (wantsSlot, holdsSlot) = (false, true) }
            if case .ended = event { isUnderway = false }
            let before = driver.machine
            let effects = driver.feed(event)
            for effect in effects { take(effect) }
            check(event, before)
        }
        let end = driver.machine.status
        for event in [TransferMachine.Event.stored, .slot, .cancel, .retryNow, .attach, .resume]
        where ends == 1 {
            #expect(driver.feed(event) == [])
            #expect(driver.machine.status == end)
        }
    }

    /// What can happen now: only a slot that is wanted is given, only what is under way ends.
    private func event(_ generator: inout SeededGenerator) -> TransferMachine.Event? {
        if let armed, armed <= driver.now {
            self.armed = nil
            return .deadline(
                bytes: .random(in: 0...5000, using: &generator),
                lastMove: driver.now - .random(in: 0...90, using: &generator) * second
            )
        }
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: return .stored
        case 1: return .requirements(isMet: .random(using: &generator))
        case 2...5: return wantsSlot ? .slot : nil
        case 6: return .pause
        case 7: return .resume
        case 8: return .retryNow
        case 9: return Int.random(in: 0..<20, using: &generator) == 0 ? .cancel : nil
        case 10: return .attach
        case 11: return .detach
        case 12:
            guard isUnderway, Int.random(in: 0..<8, using: &generator) == 0 else { return nil }
            return .ended(.done(TransferAnswer(status: 200)))
        default:
            guard isUnderway else { return nil }
            let codes = TransferFault.Code.allCases
            return .ended(
                .failed(
                    TransferFault(
                        codes.randomElement(using: &generator) ?? .idle,
                        "x",
                        status: 503
                    ),
                    retryAfter: Bool.random(using: &generator)
                        ? UInt64.random(in: 0...5000, using: &generator) * second : nil,
                    hasProgressed: .random(using: &generator)
                )
            )
        }
    }

    private func take(_ effect: TransferMachine.Effect) {
        switch effect {
        case .arm(let moment): armed = moment
        case .requestSlot:
            #expect(!wantsSlot && !holdsSlot)
            wantsSlot = true
        case .withdrawSlotRequest:
            #expect(wantsSlot)
            wantsSlot = false
        case .free:
            #expect(holdsSlot)
            holdsSlot = false
        case .begin:
            #expect(holdsSlot && !isUnderway)
            isUnderway = true
            attempts += 1
        case .abandon:
            #expect(isUnderway)
            isUnderway = false
        case .forget, .save: break
        case .end: ends += 1
        }
    }

    private func check(_ event: TransferMachine.Event, _ before: TransferMachine) {
        let machine = driver.machine
        #expect(machine.attempt == attempts)
        #expect(ends == (machine.state.isTerminal ? 1 : 0))
        #expect((machine.state == .active) == isUnderway)
        #expect(isUnderway == holdsSlot)
        if machine.state.isTerminal {
            #expect(!holdsSlot && !wantsSlot)
            #expect(machine.status.endedAt != nil)
        } else if machine.state != .queued {
            // Nothing waits for ever: there is always a moment at which it is looked at again.
            #expect(armed.map { $0 <= 5000 * second } ?? false)
        }
        if machine.state == .retrying {
            #expect(machine.retryAt.map { $0 < 5000 * second } ?? false)
        }
        if before.state == .retrying, machine.state == .waiting, event != .retryNow {
            #expect(driver.now >= before.retryAt ?? .max)
        }
        #expect(machine.status.isDetached == (machine.attachments == 0))
        #expect(machine.status.restarts <= machine.policy.restartsMax + 1)
    }
}
