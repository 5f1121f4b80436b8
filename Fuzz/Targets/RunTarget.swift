// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy

extension FuzzTarget {
    /// What may happen to a run, in any order: it ends once, and without anybody's help.
    static let runs = FuzzTarget("runs", bytesMax: 512) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        var life = RunLife(&cursor)
        while !cursor.isAtEnd { try life.step(&cursor) }
        try life.finish()
    }
}

/// A run, and what it has asked its host for.
private struct RunLife {
    private var machine: RunMachine
    private var now = MonotonicInstant(nanoseconds: 1)
    private var deadline: MonotonicInstant?
    private var ends = 0
    private var kills = 0
    private var cancels = 0

    init(_ cursor: inout ByteCursor) {
        let limits = RunLimits(
            runtime: .nanoseconds(cursor.integer(Int64.self)),
            grace: .seconds(cursor.integer(Int16.self))
        )
        machine = RunMachine(limits: limits, isKillable: cursor.flag())
        var effects: [RunMachine.Effect] = []
        machine.begin(now: now, &effects)
        deadline = effects.contains { if case .arm = $0 { true } else { false } } ? now : nil
    }

    mutating func step(_ cursor: inout ByteCursor) throws(BrokenProperty) {
        now += UInt64(cursor.integer(UInt16.self))
        try take(Self.event(&cursor))
    }

    /// From wherever it stands, deadlines alone must bring it to its end.
    mutating func finish() throws(BrokenProperty) {
        for _ in 0..<4 where machine.state != .ended {
            now = try unwrap(deadline, "nothing is armed in \(machine.state)")
            try take(.deadline)
        }
        try require(machine.state == .ended, "deadlines alone leave it \(machine.state)")
        try require(ends == 1, "it ended \(ends) times")
    }

    private mutating func take(_ event: RunMachine.Event) throws(BrokenProperty) {
        let before = machine
        var effects: [RunMachine.Effect] = []
        machine.handle(event, now: now, &effects)
        if before.state == .ended {
            try require(effects.isEmpty && machine == before, "\(event) changed an ended run")
        }
        for effect in effects {
            try require(ends == 0, "\(effect) comes behind the end")
            switch effect {
            case .arm(let moment): deadline = moment
            case .cancel(_, let remaining):
                cancels += 1
                try require(remaining == machine.grace, "it is told of another grace")
            case .kill: kills += 1
            case .end: ends += 1
            }
        }
        try require(kills <= 1 && cancels <= 1, "\(kills) kills and \(cancels) cancels")
        try require((ends == 1) == (machine.state == .ended), "an end without its state")
        try require(
            machine.state != .killing || kills == 1 && machine.killReason != nil,
            "it waits for a kill that the scheduler did not ask for"
        )
    }

    private static func event(_ cursor: inout ByteCursor) -> RunMachine.Event {
        switch cursor.below(11) {
        case 0: .began
        case 1: .stop(StopReason(rawValue: UInt32(cursor.below(6))) ?? .user)
        case 2: .exceeded([.memory, .cpu, .processes, .output][cursor.below(4)])
        case 3: .completed(status: cursor.integer())
        case 4: .refused
        case 5: .exited(cursor.flag() ? .exited(1) : .signalled(9))
        case 6: .workerLost
        case 10: .forceStop
        case 7: .paused(UInt64(cursor.integer(UInt16.self)))
        default: .deadline
        }
    }
}
