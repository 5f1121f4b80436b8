// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import BghostModel
import BghostPolicy
import Testing

/// Every state with every event: where it leads and what the host must do.
@Suite struct RunMachineTableTests {
    typealias Event = RunMachine.Event
    typealias Effect = RunMachine.Effect

    struct Row: Sendable, CustomTestStringConvertible {
        var from: RunState
        var event: Event
        var to: RunState
        var effects: [Effect]

        init(_ from: RunState, _ event: Event, _ to: RunState, _ effects: [Effect] = []) {
            self.from = from
            self.event = event
            self.to = to
            self.effects = effects
        }

        var testDescription: String { "\(from) + \(event)" }
    }

    static let limits = RunLimits(runtime: .seconds(25), grace: .seconds(5))
    static let now: MonotonicInstant = 1_000
    static let graceOver = Effect.arm(now + 5_000_000_000)
    static let reapOver = Effect.arm(now + 5_000_000_000)

    /// One of each kind of event.
    static let events: [Event] = [
        .began, .stop(.drain), .exceeded(.memory), .completed(status: 0), .refused,
        .exited(.signalled(11)), .workerLost, .deadline, .forceStop, .paused(7),
    ]

    static let killable: [Row] = [
        Row(.starting, .began, .running, [.arm(now + 25_000_000_000)]),
        Row(.starting, .stop(.drain), .ended, [.end(.cancelledClean)]),
        Row(.starting, .exceeded(.memory), .killing, [reapOver, .kill(.memory)]),
        Row(.starting, .completed(status: 0), .ended, [.end(.succeeded)]),
        Row(.starting, .refused, .ended, [.end(.failed)]),
        Row(.starting, .exited(.signalled(11)), .ended, [.end(.crashed(.signalled(11)))]),
        Row(.starting, .workerLost, .ended, [.end(.lost)]),
        Row(.starting, .deadline, .killing, [reapOver, .kill(.startTimeout)]),
        Row(.starting, .forceStop, .starting),
        Row(
            .starting,
            .paused(7),
            .starting,
            [.arm(MonotonicInstant.zero + RunMachine.startLimit + 7)]
        ),

        Row(.running, .began, .running),
        Row(
            .running,
            .stop(.drain),
            .cancelling,
            [graceOver, .cancel(.drain, remaining: 5_000_000_000)]
        ),
        Row(.running, .exceeded(.memory), .killing, [reapOver, .kill(.memory)]),
        Row(.running, .completed(status: 0), .ended, [.end(.succeeded)]),
        Row(.running, .refused, .ended, [.end(.failed)]),
        Row(.running, .exited(.signalled(11)), .ended, [.end(.crashed(.signalled(11)))]),
        Row(.running, .workerLost, .ended, [.end(.lost)]),
        Row(
            .running,
            .deadline,
            .cancelling,
            [graceOver, .cancel(.expired, remaining: 5_000_000_000)]
        ),
        Row(.running, .forceStop, .running),
        // From when it was due, and not from now.
        Row(.running, .paused(7), .running, [.arm(25_000_000_007)]),

        Row(.cancelling, .began, .cancelling),
        Row(.cancelling, .stop(.drain), .cancelling),
        Row(.cancelling, .exceeded(.memory), .killing, [reapOver, .kill(.memory)]),
        Row(.cancelling, .completed(status: 0), .ended, [.end(.succeeded)]),
        Row(.cancelling, .refused, .ended, [.end(.failed)]),
        Row(.cancelling, .exited(.signalled(11)), .ended, [.end(.crashed(.signalled(11)))]),
        Row(.cancelling, .workerLost, .ended, [.end(.lost)]),
        Row(.cancelling, .deadline, .killing, [reapOver, .kill(.graceExceeded)]),
        Row(.cancelling, .forceStop, .killing, [reapOver, .kill(.graceExceeded)]),
        Row(.cancelling, .paused(7), .cancelling, [.arm(5_000_000_007)]),

        // Once the worker is being killed, only that it is gone frees the slot.
        Row(.killing, .began, .killing),
        Row(.killing, .stop(.drain), .killing),
        Row(.killing, .exceeded(.memory), .killing),
        Row(.killing, .completed(status: 0), .killing),
        Row(.killing, .refused, .killing),
        Row(.killing, .exited(.signalled(11)), .ended, [.end(.killed(.cpu))]),
        Row(.killing, .workerLost, .ended, [.end(.killed(.cpu))]),
        Row(.killing, .deadline, .ended, [.end(.killed(.cpu))]),
        Row(.killing, .forceStop, .killing),
        Row(.killing, .paused(7), .killing),
    ]

    /// A run inside the daemon cannot be killed: the host abandons it instead.
    static let inProcess: [Row] = [
        Row(.starting, .stop(.drain), .ended, [.end(.cancelledClean)]),
        Row(.starting, .exceeded(.memory), .ended, [.kill(.memory), .end(.abandoned)]),
        Row(.starting, .deadline, .ended, [.kill(.startTimeout), .end(.abandoned)]),
        Row(.running, .exceeded(.output), .ended, [.kill(.output), .end(.abandoned)]),
        Row(.cancelling, .exceeded(.output), .ended, [.kill(.output), .end(.abandoned)]),
        Row(.cancelling, .deadline, .ended, [.kill(.graceExceeded), .end(.abandoned)]),
        Row(.cancelling, .forceStop, .ended, [.kill(.graceExceeded), .end(.abandoned)]),
        Row(.cancelling, .completed(status: -3), .ended, [.end(.cancelledClean)]),
    ]

    @Test(arguments: killable)
    func `Each event leads to its state`(_ row: Row) { check(row, isKillable: true) }

    @Test(arguments: inProcess)
    func `Each event leads to its state in the daemon`(_ row: Row) { check(row, isKillable: false) }

    private func check(_ row: Row, isKillable: Bool) {
        var machine = Self.machine(in: row.from, isKillable: isKillable)
        var effects: [Effect] = []
        machine.handle(row.event, now: Self.now, &effects)
        #expect(machine.state == row.to)
        #expect(effects == row.effects)
    }

    @Test func `The table leaves nothing out`() {
        for state in RunState.allCases where state != .ended {
            let seen = Self.killable.filter { $0.from == state }.map(\.event)
            #expect(seen == Self.events, "\(state)")
        }
    }

    @Test(arguments: events, [true, false])
    func `Nothing happens after the end`(event: Event, isKillable: Bool) {
        var machine = Self.machine(in: .ended, isKillable: isKillable)
        let before = machine
        var effects: [Effect] = []
        machine.handle(event, now: Self.now, &effects)
        #expect(machine == before)
        #expect(effects.isEmpty)
    }

    /// A machine led into a state by the shortest way.
    static func machine(in state: RunState, isKillable: Bool) -> RunMachine {
        var machine = RunMachine(limits: limits, isKillable: isKillable)
        let way: [Event] =
            switch state {
            case .starting: []
            case .running: [.began]
            case .cancelling: [.began, .stop(.user)]
            case .killing: [.began, .exceeded(.cpu)]
            case .ended: [.began, .completed(status: 0)]
            }
        var effects: [Effect] = []
        machine.begin(now: 0, &effects)
        for event in way { machine.handle(event, now: 0, &effects) }
        #expect(machine.state == state)
        return machine
    }
}
