// SPDX-License-Identifier: Apache-2.0

/// A seccomp filter: classic BPF, as a binary tree over system call numbers.
///
/// The kernel executes the filter for each call and checks each instruction when the filter is installed. A
/// list of rules would cost three times as much.
package struct FilterProgram: Equatable, Sendable {
    /// An instruction (`sock_filter`).
    package struct Instruction: Equatable, Sendable {
        package var code: UInt16
        package var ifTrue: UInt8
        package var ifFalse: UInt8
        package var operand: UInt32

        init(_ code: UInt16, _ operand: UInt32, ifTrue: UInt8 = 0, ifFalse: UInt8 = 0) {
            self.code = code
            self.ifTrue = ifTrue
            self.ifFalse = ifFalse
            self.operand = operand
        }
    }

    /// An architecture with its system call numbers.
    package struct Architecture: Equatable, Sendable {
        /// `AUDIT_ARCH_*`.
        package var audit: UInt32
        /// Calls from this number on belong to another ABI of the same machine (x32).
        package var foreignFrom: UInt32

        package init(audit: UInt32, foreignFrom: UInt32) {
            self.audit = audit
            self.foreignFrom = foreignFrom
        }
    }

    package private(set) var instructions: [Instruction] = []
    /// The instructions whose operand must be replaced by the worker's pid.
    package private(set) var ownProcess: [UInt16] = []

    /// - Parameter number: the number of a system call by its name; `nil` if it does not exist.
    package init(
        _ policy: SystemCallPolicy,
        on architecture: Architecture,
        number: (String) -> UInt32?
    ) {
        var rules: [UInt32: SystemCallRule] = [:]
        for (name, rule) in policy.rules { if let number = number(name) { rules[number] = rule } }
        emit(Code.load, 4)
        emit(Code.equals, architecture.audit, ifTrue: 1, ifFalse: 0)
        // The numbers of 32-bit calls on a 64-bit machine have another meaning.
        emit(Code.answer, Answer.kill)
        emit(Code.load, 0)
        emit(Code.atLeast, architecture.foreignFrom, ifTrue: 0, ifFalse: 1)
        emit(Code.answer, Answer.kill)
        tree(Self.ranges(rules)[...])
    }

    /// A range of consecutive numbers with the same rule.
    private struct Range {
        var first: UInt32
        var rule: SystemCallRule
    }

    private static func ranges(_ rules: [UInt32: SystemCallRule]) -> [Range] {
        let refused = SystemCallRule.refuse(SystemCallPolicy.Refusal.notPermitted)
        let last = rules.keys.max() ?? 0
        var ranges: [Range] = []
        func add(_ first: UInt32, _ rule: SystemCallRule) {
            if ranges.last?.rule != rule { ranges.append(Range(first: first, rule: rule)) }
        }
        var next: UInt32 = 0
        for number in rules.keys.sorted() {
            if number > next || ranges.isEmpty && number > 0 { add(next, refused) }
            add(number, rules[number] ?? refused)
            next = number + 1
        }
        // System calls that are newer than these; programs can work without them.
        add(last + 1, .refuse(SystemCallPolicy.Refusal.notImplemented))
        return ranges
    }

    private mutating func tree(_ ranges: ArraySlice<Range>) {
        guard ranges.count > 1 else {
            if let range = ranges.first { leaf(range.rule) }
            return
        }
        let middle = ranges.startIndex + ranges.count / 2
        let node = instructions.count
        // A separate jump reaches further than the eight bits of a comparison.
        emit(Code.atLeast, ranges[middle].first, ifTrue: 0, ifFalse: 1)
        emit(Code.jump, 0)
        tree(ranges[..<middle])
        instructions[node + 1].operand = UInt32(instructions.count - node - 2)
        tree(ranges[middle...])
    }

    private mutating func leaf(_ rule: SystemCallRule) {
        switch rule {
        case .allow: emit(Code.answer, Answer.allow)
        case .refuse(let error): emit(Code.answer, Answer.error | UInt32(error))
        case .when(let conditions, let error):
            for condition in conditions { check(condition, otherwise: error) }
            emit(Code.answer, Answer.allow)
        }
    }

    /// Emits a check; the program continues after it if the condition is met.
    private mutating func check(_ condition: ArgumentRule, otherwise error: UInt16) {
        func load(_ argument: Int) { emit(Code.load, UInt32(16 + 8 * argument)) }
        switch condition {
        case .equals(let argument, let values):
            load(argument)
            for (index, value) in values.enumerated() {
                let rest = UInt8(values.count - index - 1)
                emit(Code.equals, value, ifTrue: rest + 1, ifFalse: 0)
            }
        case .has(let argument, let bits):
            load(argument)
            emit(Code.and, bits)
            emit(Code.equals, bits, ifTrue: 1, ifFalse: 0)
        case .lacks(let argument, let bits):
            load(argument)
            emit(Code.anyBit, bits, ifTrue: 0, ifFalse: 1)
        case .lacksWhere(let argument, let bits, let flags, let decisive):
            load(flags)
            // Skip the check of the argument and the return after it.
            emit(Code.anyBit, decisive, ifTrue: 0, ifFalse: 3)
            load(argument)
            emit(Code.anyBit, bits, ifTrue: 0, ifFalse: 1)
        case .lacksOne(let argument, let bits):
            load(argument)
            emit(Code.and, bits)
            emit(Code.equals, bits, ifTrue: 0, ifFalse: 1)
        case .differs(let argument, let bits, let value):
            load(argument)
            emit(Code.and, bits)
            emit(Code.equals, value, ifTrue: 0, ifFalse: 1)
        case .isOwnProcess(let argument):
            load(argument)
            ownProcess.append(UInt16(instructions.count))
            emit(Code.equals, 0, ifTrue: 1, ifFalse: 0)
        }
        emit(Code.answer, Answer.error | UInt32(error))
    }

    private mutating func emit(
        _ code: UInt16,
        _ operand: UInt32,
        ifTrue: UInt8 = 0,
        ifFalse: UInt8 = 0
    ) {
        instructions.append(Instruction(code, operand, ifTrue: ifTrue, ifFalse: ifFalse))
    }

    /// The opcodes of classic BPF that are used.
    package enum Code {
        /// BPF_LD | BPF_W | BPF_ABS.
        package static let load: UInt16 = 0x20
        /// BPF_JMP | BPF_JA.
        package static let jump: UInt16 = 0x05
        /// BPF_JMP | BPF_JEQ | BPF_K.
        package static let equals: UInt16 = 0x15
        /// BPF_JMP | BPF_JGE | BPF_K.
        package static let atLeast: UInt16 = 0x35
        /// BPF_JMP | BPF_JSET | BPF_K.
        package static let anyBit: UInt16 = 0x45
        /// BPF_ALU | BPF_AND | BPF_K.
        package static let and: UInt16 = 0x54
        /// BPF_RET | BPF_K.
        package static let answer: UInt16 = 0x06
    }

    /// The return values of a filter.
    package enum Answer {
        /// SECCOMP_RET_KILL_PROCESS.
        package static let kill: UInt32 = 0x8000_0000
        /// SECCOMP_RET_ERRNO.
        package static let error: UInt32 = 0x0005_0000
        /// SECCOMP_RET_ALLOW.
        package static let allow: UInt32 = 0x7FFF_0000
    }
}
