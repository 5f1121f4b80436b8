// SPDX-License-Identifier: Apache-2.0

import BghostSandbox

extension FuzzTarget {
    /// A policy on a machine with any numbers of system calls, and calls: the filter answers each
    /// as the policy says.
    static let filter = FuzzTarget("filter", bytesMax: 4 << 10) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        var policy = SystemCallPolicy(
            opensSockets: cursor.flag(),
            startsProcesses: cursor.flag()
        )
        policy.changesAttributes = cursor.flag()
        policy.writesCode = cursor.flag()
        policy.sharesMemory = cursor.flag()
        let rules = policy.rules
        let machine = FilterProgram.Architecture(audit: 0xC000_003E, foreignFrom: 0x4000_0000)
        var numbers: [String: UInt32] = [:]
        var names: [UInt32: String] = [:]
        // Some calls are missing on some machines, and numbers have gaps.
        var number: UInt32 = 0
        for name in rules.keys.sorted() {
            let gap = UInt32(cursor.byte())
            guard gap != 255 else { continue }
            number += gap >= 128 ? 1 : gap
            guard names[number] == nil else { continue }
            (numbers[name], names[number]) = (number, name)
        }
        let program = FilterProgram(policy, on: machine) { numbers[$0] }
        try require(program.instructions.count <= 4096, "the kernel takes 4096 instructions")
        let filter = FilterMachine(program, process: 77)
        for _ in 0..<24 {
            let call = SystemCall(&cursor, upTo: number)
            let answer = try filter.answer(call)
            let meant = try call.meant(rules, names, newerThan: names.keys.max() ?? 0, machine)
            try require(answer == meant, "\(call) is answered \(answer), and \(meant) is meant")
        }
    }
}

/// A call as the kernel shows it to a filter.
private struct SystemCall {
    var architecture: UInt32 = 0xC000_003E
    var number: UInt32
    var arguments: [UInt64] = []

    init(_ cursor: inout ByteCursor, upTo last: UInt32) {
        let kind = cursor.byte()
        if kind == 0 { architecture = cursor.integer() }
        number = kind == 1 ? cursor.integer() : UInt32(cursor.below(Int(last) + 3))
        for _ in 0..<6 {
            // Mostly what rules compare with.
            let usual: [UInt64] = [
                0, 1, 2, 10, 77, 0x5421, 0x10000, 0x1000_0000, 15, 1030, 4, 6, 7,
            ]
            let choice = cursor.below(16)
            arguments.append(choice < usual.count ? usual[choice] : cursor.integer())
        }
    }

    /// What the policy says, without a filter.
    func meant(
        _ rules: [String: SystemCallRule],
        _ names: [UInt32: String],
        newerThan last: UInt32,
        _ machine: FilterProgram.Architecture
    ) throws(BrokenProperty) -> UInt32 {
        guard architecture == machine.audit, number < machine.foreignFrom else {
            return FilterProgram.Answer.kill
        }
        let (notPermitted, notImplemented): (UInt32, UInt32) = (1, 38)
        guard let name = names[number] else {
            let isNewer = number > last || names.isEmpty
            return FilterProgram.Answer.error | (isNewer ? notImplemented : notPermitted)
        }
        switch try unwrap(rules[name], "a call without a rule") {
        case .allow: return FilterProgram.Answer.allow
        case .refuse(let error): return FilterProgram.Answer.error | UInt32(error)
        case .when(let conditions, let error):
            let holds = conditions.allSatisfy(fulfils)
            return holds ? FilterProgram.Answer.allow : FilterProgram.Answer.error | UInt32(error)
        }
    }

    private func fulfils(_ rule: ArgumentRule) -> Bool {
        func low(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: arguments[index]) }
        return switch rule {
        case .equals(let index, let values): values.contains(low(index))
        case .has(let index, let bits): low(index) & bits == bits
        case .lacks(let index, let bits): low(index) & bits == 0
        case .lacksWhere(let index, let bits, let flags, let decisive):
            low(flags) & decisive == 0 || low(index) & bits == 0
        case .lacksOne(let index, let bits): low(index) & bits != bits
        case .differs(let index, let bits, let value): low(index) & bits != value
        case .isOwnProcess(let index): low(index) == 77
        }
    }
}

/// What the kernel makes of a filter: classic BPF, as far as it is used.
private struct FilterMachine {
    private var steps: [FilterProgram.Instruction]

    init(_ program: FilterProgram, process: UInt32) {
        steps = program.instructions
        for index in program.ownProcess { steps[Int(index)].operand = process }
    }

    func answer(_ call: SystemCall) throws(BrokenProperty) -> UInt32 {
        var accumulator: UInt32 = 0
        var index = 0
        while steps.indices.contains(index) {
            let step = steps[index]
            index += 1
            let holds: Bool
            switch step.code {
            case FilterProgram.Code.load:
                accumulator = load(Int(step.operand), call)
                continue
            case FilterProgram.Code.and:
                accumulator &= step.operand
                continue
            case FilterProgram.Code.jump:
                index += Int(step.operand)
                continue
            case FilterProgram.Code.answer: return step.operand
            case FilterProgram.Code.equals: holds = accumulator == step.operand
            case FilterProgram.Code.atLeast: holds = accumulator >= step.operand
            case FilterProgram.Code.anyBit: holds = accumulator & step.operand != 0
            default: throw BrokenProperty("the filter has the code \(step.code)")
            }
            index += Int(holds ? step.ifTrue : step.ifFalse)
        }
        throw BrokenProperty("the filter leads out of itself")
    }

    private func load(_ offset: Int, _ call: SystemCall) -> UInt32 {
        guard offset >= 16 else { return offset == 0 ? call.number : call.architecture }
        let value = call.arguments[(offset - 16) / 8]
        return UInt32(truncatingIfNeeded: offset % 8 == 0 ? value : value >> 32)
    }
}
