// SPDX-License-Identifier: Apache-2.0

/// A compiled pattern, matched by following all its states at once.
///
/// A match looks at each character once and at each state once for a character: no pattern takes
/// exponential time.
struct LinearPattern: Sendable {
    private enum Instruction: Sendable {
        case set(ScalarSet)
        case split(Int, Int)
        case start
        case end
        case match
    }

    static let textBytesMax = 1024
    /// Also bounds what nested repetitions such as `(a{1000}){1000}` expand to.
    private static let instructionsMax = 2000

    private var program: [Instruction] = []

    /// Its states and the ranges of their sets: what it holds in memory.
    var size: Int {
        program.reduce(0) { sum, instruction in
            if case .set(let set) = instruction { sum + 1 + set.ranges.count } else { sum + 1 }
        }
    }

    init(_ text: String) throws(PatternFault) {
        guard text.utf8.count <= Self.textBytesMax else {
            throw PatternFault("it has \(text.utf8.count) bytes; at most \(Self.textBytesMax)")
        }
        try emit(try PatternParser.parse(text))
        try add(.match)
    }

    // MARK: Compilation

    private mutating func add(_ instruction: Instruction) throws(PatternFault) {
        guard program.count < Self.instructionsMax else {
            throw PatternFault("it has more than \(Self.instructionsMax) states; repeat less")
        }
        program.append(instruction)
    }

    private mutating func emit(_ node: PatternNode) throws(PatternFault) {
        switch node {
        case .empty: break
        case .set(let set): try add(.set(set))
        case .start: try add(.start)
        case .end: try add(.end)
        case .sequence(let parts): for part in parts { try emit(part) }
        case .choice(let branches): try emit(choice: branches[...])
        case .repetition(let part, let least, let most):
            for _ in 0..<least {
                let before = program.count
                try emit(part)
                // Nothing bounds how often nothing can be repeated.
                if program.count == before { break }
            }
            guard let most else { return try emit(loop: part) }
            for _ in least..<most { try emit(optional: part) }
        }
    }

    private mutating func emit(choice branches: ArraySlice<PatternNode>) throws(PatternFault) {
        guard let first = branches.first, branches.count > 1 else {
            if let last = branches.first { try emit(last) }
            return
        }
        let split = program.count
        try add(.split(split + 1, 0))
        try emit(first)
        let jump = program.count
        try add(.split(0, 0))
        program[split] = .split(split + 1, program.count)
        try emit(choice: branches.dropFirst())
        program[jump] = .split(program.count, program.count)
    }

    private mutating func emit(loop part: PatternNode) throws(PatternFault) {
        let split = program.count
        try add(.split(split + 1, 0))
        try emit(part)
        try add(.split(split, split))
        program[split] = .split(split + 1, program.count)
    }

    private mutating func emit(optional part: PatternNode) throws(PatternFault) {
        let split = program.count
        try add(.split(split + 1, 0))
        try emit(part)
        program[split] = .split(split + 1, program.count)
    }

    // MARK: Matching

    /// Whether the pattern matches somewhere in a text.
    ///
    /// - Parameter steps: the states that it may still look at; `nil` is returned when none are left.
    func matches(_ text: String, steps: inout Int) -> Bool? {
        var states = StateList(capacity: program.count)
        var next = StateList(capacity: program.count)
        var pending: [Int] = []
        var isStart = true
        var scalars = text.unicodeScalars.makeIterator()
        var scalar = scalars.next()
        while true {
            // A match may begin at each character.
            follow(0, into: &states, &pending, isStart: isStart, isEnd: scalar == nil, &steps)
            guard steps > 0 else { return nil }
            if states.hasMatched { return true }
            guard let current = scalar else { return false }
            scalar = scalars.next()
            isStart = false
            for state in states.items {
                guard case .set(let set) = program[state] else { continue }
                // Also for a set without the character, which all its ranges were compared with; four
                // comparisons take less time than a state.
                steps -= set.ranges.count / 4
                guard set.contains(current.value) else { continue }
                follow(
                    state + 1,
                    into: &next,
                    &pending,
                    isStart: false,
                    isEnd: scalar == nil,
                    &steps
                )
            }
            steps -= states.items.count
            states.removeAll()
            swap(&states, &next)
        }
    }

    /// Adds a state and all that follow without a character.
    private func follow(
        _ first: Int,
        into states: inout StateList,
        _ pending: inout [Int],
        isStart: Bool,
        isEnd: Bool,
        _ steps: inout Int
    ) {
        pending.append(first)
        while let state = pending.popLast() {
            guard states.insert(state) else { continue }
            steps -= 1
            switch program[state] {
            case .set: break
            case .split(let one, let other):
                pending.append(one)
                pending.append(other)
            case .start: if isStart { pending.append(state + 1) }
            case .end: if isEnd { pending.append(state + 1) }
            case .match: states.hasMatched = true
            }
        }
    }
}

/// The states of a pattern at one character, each once.
private struct StateList {
    private(set) var items: [Int] = []
    var hasMatched = false
    private var isIn: [Bool]

    init(capacity: Int) { isIn = Array(repeating: false, count: capacity) }

    mutating func insert(_ state: Int) -> Bool {
        guard !isIn[state] else { return false }
        isIn[state] = true
        items.append(state)
        return true
    }

    mutating func removeAll() {
        for item in items { isIn[item] = false }
        items.removeAll(keepingCapacity: true)
        hasMatched = false
    }
}
