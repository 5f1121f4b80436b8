// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Checks one value against a compiled schema.
///
/// Its time is linear in the value, times the schemas for the same value. All work that a schema can
/// repeat is counted, each time that it is done, so `stepsMax` ends the check of a schema whose branches
/// multiply.
struct SchemaEvaluator {
    /// Ends a check that takes too many steps.
    struct Exhausted: Error {}

    /// At most some 30 ms, on the thread that enforces deadlines; honest parameters need a small part.
    static let stepsMax = 1 << 20
    /// The steps of one schema for one value: that much longer than the step of a pattern.
    private static let stepsOfSchema = 24
    /// The steps of looking up one key, besides those for its bytes.
    private static let stepsOfKey = 4
    /// The steps of one byte of a value in canonical notation, where a number may have one byte.
    private static let stepsOfCanonicalByte = 4
    /// The steps of comparing an element with all others, besides those for its bytes.
    private static let stepsOfElement = 16
    /// Values are at most 64 levels deep; each has some schemas for itself.
    static let depthMax = 256
    static let faultsMax = 20

    let rules: [SchemaRule]
    /// Whether a request may give members that are missing in the object itself.
    let isPartial: Bool
    private(set) var faults: [SchemaFault] = []
    /// All faults, also those beyond the maximum.
    private(set) var count = 0
    var steps = stepsMax
    private var depth = 0
    /// The keys and indices of the value at hand, as they are in the parameters.
    private var path: [String] = []
    /// The faults that get a text; none while only their count is of interest.
    private var faultsWanted = faultsMax
    /// One for all faults, since each can be of another object.
    private var spelling = Spelling.Budget()

    init(_ rules: [SchemaRule], isPartial: Bool) {
        self.rules = rules
        self.isPartial = isPartial
    }

    /// Whether the value at hand is the object itself, to which members may be added.
    private var mayGrow: Bool { isPartial && path.isEmpty }

    mutating func check(_ node: JSONNode, _ index: Int) throws(Exhausted) {
        depth += 1
        defer { depth -= 1 }
        try spend(Self.stepsOfSchema)
        guard depth <= Self.depthMax else { throw Exhausted() }
        let rule = rules[index]
        if rule.isNever { return report("nothing is allowed here") }
        guard try checkType(node, rule) else { return }
        try checkAllowed(node, rule)
        switch node.value {
        case .number(let text): if let numbers = rule.numbers { try checkNumber(text, numbers) }
        case .string(let text): if let texts = rule.texts { try checkText(text, texts) }
        case .array(let elements): if let arrays = rule.arrays { try check(elements, arrays) }
        case .object(let members): if let objects = rule.objects { try check(members, objects) }
        case .null, .bool: break
        }
        if let reference = rule.reference { try check(node, reference) }
        for other in rule.all { try check(node, other) }
        try checkBranches(node, rule)
    }

    // MARK: Faults

    mutating func spend(_ count: Int) throws(Exhausted) {
        steps -= count
        guard steps > 0 else { throw Exhausted() }
    }

    /// Counts a fault; makes its text only if it is kept.
    mutating func report(_ message: @autoclosure () -> String, at key: String? = nil) {
        count += 1
        guard faults.count < faultsWanted else { return }
        let place = (path + [key].compactMap(\.self)).map { "/" + Self.shown($0) }.joined()
        faults.append(SchemaFault(pointer: PrintableText.escaped(place), message: message()))
    }

    /// Checks a value under one rule, and reports nothing.
    ///
    /// - Parameter wanted: how many faults get a text.
    private mutating func trial(
        _ node: JSONNode,
        _ index: Int,
        wanted: Int = 0
    ) throws(Exhausted) -> (first: SchemaFault?, count: Int) {
        let before = (faults, count, faultsWanted)
        (faults, count, faultsWanted) = ([], 0, wanted)
        defer { (faults, count, faultsWanted) = before }
        try check(node, index)
        return (faults.first, count)
    }

    // MARK: Any value

    private mutating func checkType(
        _ node: JSONNode,
        _ rule: SchemaRule
    ) throws(Exhausted) -> Bool {
        guard !rule.types.isEmpty else { return true }
        // Whether a number is an integer depends on all of its digits.
        if case .number(let text) = node.value { try spend(text.utf8.count) }
        guard !rule.types.allows(node) else { return true }
        report("\(SchemaFault.describe(node)) is there; \(rule.types.phrase) is wanted")
        return false
    }

    private mutating func checkAllowed(
        _ node: JSONNode,
        _ rule: SchemaRule
    ) throws(Exhausted) {
        guard !rule.allowed.isEmpty, !mayGrow else { return }
        let bytes = try canonicalBytes(node)
        for allowed in rule.allowed where !allowed.values.contains(bytes) {
            let wanted = allowed.values.count == 1 ? allowed.phrase : "one of \(allowed.phrase)"
            report("\(SchemaFault.describe(node)) is there; \(wanted) is wanted")
        }
    }

    private mutating func canonicalBytes(_ node: JSONNode) throws(Exhausted) -> [UInt8] {
        // By the text of the value: its canonical notation can be much shorter than what it takes to make.
        try spend(node.span.range.count * Self.stepsOfCanonicalByte)
        return CanonicalJSON.bytes(node)
    }

    private mutating func checkBranches(
        _ node: JSONNode,
        _ rule: SchemaRule
    ) throws(Exhausted) {
        for branches in rule.any { _ = try checkAny(node, branches) }
        for branches in rule.one {
            let fitting = try checkAny(node, branches, isExhaustive: true)
            // More alternatives fit while members are missing.
            if fitting > 1, !mayGrow {
                report("it fits \(fitting) of the alternatives; exactly one is wanted")
            }
        }
        if let not = rule.not, !mayGrow, try trial(node, not).count == 0 {
            report("\(SchemaFault.describe(node)) is there, which is excluded")
        }
    }

    /// The number of branches that fit; it reports the nearest one if none does.
    private mutating func checkAny(
        _ node: JSONNode,
        _ branches: [Int],
        isExhaustive: Bool = false
    ) throws(Exhausted) -> Int {
        var fitting = 0
        var nearest: (branch: Int, count: Int)?
        for branch in branches {
            let count = try trial(node, branch).count
            if count == 0 {
                fitting += 1
                if !isExhaustive { return fitting }
            } else if count < nearest?.count ?? .max {
                nearest = (branch, count)
            }
        }
        guard fitting == 0, let nearest else { return fitting }
        count += 1
        guard faults.count < faultsWanted else { return 0 }
        // Once more, for the text of one branch only.
        guard let first = try trial(node, nearest.branch, wanted: 1).first else { return 0 }
        let alternatives = branches.count == 1 ? "" : ", in the nearest of \(branches.count) forms"
        faults.append(
            SchemaFault(pointer: first.pointer, message: first.message + alternatives)
        )
        return 0
    }

    // MARK: Arrays and objects

    private mutating func check(_ elements: [JSONNode], _ rule: ArrayRule) throws(Exhausted) {
        let count = elements.count
        if count < rule.least {
            report("\(CountText.of(count, "element")); at least \(rule.least) are wanted")
        }
        if count > rule.most {
            report("\(CountText.of(count, "element")); at most \(rule.most) are allowed")
        }
        for (index, element) in elements.enumerated() {
            guard let rule = index < rule.first.count ? rule.first[index] : rule.rest else { break }
            path.append(String(index))
            try check(element, rule)
            path.removeLast()
        }
        guard rule.isUnique else { return }
        var seen: [[UInt8]: Int] = [:]
        for (index, element) in elements.enumerated() {
            try spend(Self.stepsOfElement)
            let bytes = try canonicalBytes(element)
            if let first = seen.updateValue(index, forKey: bytes) {
                report("it equals element \(first); all must differ", at: String(index))
            }
        }
    }

    private mutating func check(_ members: [JSONMember], _ rule: ObjectRule) throws(Exhausted) {
        let count = members.count
        if count < rule.least, !mayGrow {
            report("\(CountText.of(count, "member")); at least \(rule.least) are wanted")
        }
        if count > rule.most {
            report("\(CountText.of(count, "member")); at most \(rule.most) are allowed")
        }
        try checkRequired(members, rule)
        guard !rule.properties.isEmpty || rule.additional != nil else { return }
        for member in members {
            try spend(Self.stepsOfKey + member.key.utf8.count)
            let own = rule.properties[Array(member.key.utf8)]
            guard let inner = own ?? rule.additional else { continue }
            if own == nil, rule.isClosed {
                reportUnknown(member.key, rule)
                continue
            }
            path.append(member.key)
            try check(member.value, inner)
            path.removeLast()
        }
    }

    private mutating func checkRequired(
        _ members: [JSONMember],
        _ rule: ObjectRule
    ) throws(Exhausted) {
        guard !rule.required.isEmpty, !mayGrow else { return }
        var keys: Set<[UInt8]> = []
        for member in members {
            try spend(Self.stepsOfKey + member.key.utf8.count)
            keys.insert(Array(member.key.utf8))
        }
        for name in rule.required {
            try spend(Self.stepsOfKey + name.utf8.count)
            if !keys.contains(Array(name.utf8)) { reportMissing(name, rule) }
        }
    }

    private mutating func reportMissing(_ name: String, _ rule: ObjectRule) {
        let types = rule.properties[Array(name.utf8)].map { rules[$0].types } ?? []
        report("it is missing; \(types.isEmpty ? "a value" : types.phrase) is wanted", at: name)
    }

    private mutating func reportUnknown(_ key: String, _ rule: ObjectRule) {
        let hint = faults.count < faultsWanted ? spellingHint(key, rule) : ""
        report("there is no such parameter" + hint, at: key)
    }

    private mutating func spellingHint(_ key: String, _ rule: ObjectRule) -> String {
        guard key.utf8.count <= 64, rule.properties.count <= 64 else { return "" }
        let names = rule.properties.keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
        let near = Spelling.nearest(to: key, among: names, within: &spelling)
        return near.map { "; did you mean `\(PrintableText.escaped($0))`?" } ?? ""
    }

    private static func shown(_ key: String) -> String {
        // Scalars, since a character can have any number of them.
        let cut = key.utf8.count > 128 ? String(key.unicodeScalars.prefix(64)) + "…" : key
        return SchemaPointer.escaped(cut)
    }
}
