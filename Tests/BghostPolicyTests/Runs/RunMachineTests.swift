// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

@Suite struct RunMachineTests {
    typealias Event = RunMachine.Event
    typealias Effect = RunMachine.Effect

    static let runtime: UInt64 = 25_000_000_000
    static let grace: UInt64 = 5_000_000_000
    static let limits = RunLimits(runtime: .seconds(25), grace: .seconds(5))

    // MARK: What the handler's status means

    @Test(arguments: [
        (Int32(0), Outcome.succeeded), (-1, .failed), (-2, .failed), (-3, .failed),
        (-100, .failed), (.min, .failed), (1, .failed), (.max, .failed),
    ])
    func `Status of a run without a cancel`(status: Int32, outcome: Outcome) {
        #expect(end(after: [.began, .completed(status: status)]) == outcome)
    }

    @Test(arguments: StopReason.allCases)
    func `A cancelled run that stops is clean`(reason: StopReason) {
        #expect(end(after: [.began, .stop(reason), .completed(status: -3)]) == .cancelledClean)
    }

    @Test(arguments: [(Int32(0), Outcome.succeeded), (-1, .failed), (-4, .failed)])
    func `Another status counts also after a cancel`(status: Int32, outcome: Outcome) {
        #expect(end(after: [.began, .stop(.user), .completed(status: status)]) == outcome)
    }

    @Test func `The first reason to stop is kept`() {
        var machine = RunMachine(limits: Self.limits, isKillable: true)
        var effects: [Effect] = []
        for event: Event in [.began, .stop(.condition), .stop(.drain)] {
            machine.handle(event, now: 0, &effects)
        }
        #expect(machine.stopReason == .condition)
    }

    @Test func `The first reason to kill is kept`() {
        let events: [Event] = [
            .began, .exceeded(.protocolFault(7)), .exceeded(.memory), .exited(.signalled(9)),
        ]
        #expect(end(after: events) == .killed(.protocolFault(7)))
    }

    @Test func `A run stopped before its start ends without a cancel and without a kill`() {
        var machine = RunMachine(limits: Self.limits, isKillable: true)
        var effects: [Effect] = []
        machine.handle(.stop(.drain), now: 0, &effects)
        machine.handle(.exited(.signalled(9)), now: 1, &effects)
        #expect(effects == [.end(.cancelledClean)])
        #expect(machine.stopReason == .drain)
        #expect(machine.beganAt == nil)
    }

    @Test func `The start has a limit of its own`() {
        var effects: [Effect] = []
        var machine = RunMachine(limits: Self.limits, isKillable: true)
        machine.begin(now: 7, &effects)
        #expect(effects == [.arm(7 + RunMachine.startLimit)])
    }

    private func end(after events: [Event]) -> Outcome? {
        var machine = RunMachine(limits: Self.limits, isKillable: true)
        var effects: [Effect] = []
        for event in events { machine.handle(event, now: 0, &effects) }
        return effects.lazy.compactMap { if case .end(let outcome) = $0 { outcome } else { nil } }
            .first
    }

    // MARK: Whatever happens

    @Test(arguments: SeededGenerator.seeds(16))
    func `A run ends once and at its end for good`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            var machine = RunMachine(limits: Self.limits, isKillable: Bool.random(using: &random))
            var effects: [Effect] = []
            var now: MonotonicInstant = 0
            for _ in 0..<40 {
                now += UInt64.random(in: 0...Self.runtime, using: &random)
                let before = effects.count
                let wasEnded = machine.state == .ended
                machine.handle(Self.event(&random), now: now, &effects)
                #expect(!wasEnded || effects.count == before)
            }
            let ends = effects.indices.filter { if case .end = effects[$0] { true } else { false } }
            #expect(ends.count == (machine.state == .ended ? 1 : 0))
            #expect(ends.allSatisfy { $0 == effects.count - 1 })
        }
    }

    /// However it behaves: as long as the host brings the deadlines that were asked for, the run is
    /// over in time.
    @Test(arguments: SeededGenerator.seeds(16), [true, false])
    func `A run is over in time`(seed: UInt64, isKillable: Bool) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            var machine = RunMachine(limits: Self.limits, isKillable: isKillable)
            var effects: [Effect] = []
            var now = MonotonicInstant(
                nanoseconds: UInt64.random(in: 0...1 << 60, using: &random)
            )
            let handedOver = now
            var deadline = MonotonicInstant.never
            machine.begin(now: now, &effects)
            while machine.state != .ended {
                for case .arm(let moment) in effects { deadline = moment }
                effects = []
                // Nothing that would end it: the worst that a handler can do.
                now += UInt64.random(in: 0...Self.runtime, using: &random)
                guard now < deadline else {
                    now = deadline
                    machine.handle(.deadline, now: now, &effects)
                    continue
                }
                let event: Event = Bool.random(using: &random) ? .began : .stop(.user)
                machine.handle(event, now: now, &effects)
            }
            let began = machine.beganAt ?? handedOver + RunMachine.startLimit
            #expect(began <= handedOver + RunMachine.startLimit)
            let reaping = isKillable ? RunMachine.reapLimit : 0
            #expect(now <= began + Self.runtime + Self.grace + reaping)
        }
    }

    private static func event(_ random: inout SeededGenerator) -> Event {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: .began
        case 1: .stop(StopReason.allCases.randomElement(using: &random) ?? .user)
        case 2: .exceeded(.memory)
        case 3: .completed(status: Int32.random(in: -5...0, using: &random))
        case 4: .refused
        case 5: .exited(.exited(3))
        case 6: .workerLost
        case 7: .forceStop
        default: .deadline
        }
    }

    @Test(arguments: [
        (StopReason.expired, StopReason.drain), (.quota, .drain), (.drain, .drain), (.user, .user),
    ])
    func `A run hurried by a drain records the drain`(asked: StopReason, recorded: StopReason) {
        var machine = RunMachine(limits: RunLimits(kind: .refresh), isKillable: true)
        var effects: [Effect] = []
        machine.handle(.began, now: 1, &effects)
        machine.handle(.stop(asked), now: 2, &effects)
        machine.handle(.forceStop, now: 3, &effects)
        #expect(machine.stopReason == recorded)
        #expect(machine.killReason == .graceExceeded)
    }

    // MARK: Extreme limits

    @Test func `The longest limits do not overflow`() {
        let limits = RunLimits(runtime: .seconds(Int64.max), grace: .seconds(Int64.max))
        var machine = RunMachine(limits: limits, isKillable: true)
        var effects: [Effect] = []
        let now = MonotonicInstant(nanoseconds: UInt64(Int64.max))
        machine.handle(.began, now: now, &effects)
        machine.handle(.stop(.user), now: now, &effects)
        for case .arm(let moment) in effects { #expect(moment > now) }
    }

    @Test(arguments: [
        (Duration.seconds(25), UInt64(25_000_000_000)), (.nanoseconds(1), 1), (.zero, 0),
        (.nanoseconds(-1), 0), (.seconds(Int64.min), 0), (.seconds(Int64.max), UInt64(Int64.max)),
        (.seconds(9_000_000_000), UInt64(Int64.max)),
        (.seconds(8_999_999_999), 8_999_999_999_000_000_000),
    ])
    func `Nanoseconds are clamped`(duration: Duration, nanoseconds: UInt64) {
        #expect(duration.clampedNanoseconds == nanoseconds)
    }
}
