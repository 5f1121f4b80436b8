// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Checks one value against a compiled schema.
///
/// Its time is linear in the value, times the schemas for the same value; `stepsMax` ends the check of a
/// schema whose branches multiply.
struct SchemaEvaluator {
    /// Ends a check that takes too many steps.
    struct Exhausted: Error {}

    /// At most some 30 ms, on the thread that enforces deadlines; honest parameters need a small part.
    static let stepsMax = 1 << 20
    /// The steps of one schema for one value: that much longer than the step of a pattern.
    private static let stepsOfSchema = 24
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
    private var path: [String] = []

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
        guard checkType(node, rule) else { return }
        try checkAllowed(node, rule)
        switch node.value {
        case .number(let text): if let numbers = rule.numbers { checkNumber(text, numbers) }
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

    mutating func report(_ message: String, at key: String? = nil) {
        count += 1
        guard faults.count < Self.faultsMax else { return }
        let place = (path + [key].compactMap(\.self)).map { "/" + $0 }.joined()
        faults.append(SchemaFault(pointer: PrintableText.escaped(place), message: message))
    }

    /// The faults of a value under one rule, which are not reported.
    private mutating func trial(
        _ node: JSONNode,
        _ index: Int
    ) throws(Exhausted) -> (faults: [SchemaFault], count: Int) {
        let before = (faults, count)
        (faults, count) = ([], 0)
        defer { (faults, count) = before }
        try check(node, index)
        return (faults, count)
    }

    // MARK: Any value

    private mutating func checkType(_ node: JSONNode, _ rule: SchemaRule) -> Bool {
        guard !rule.types.isEmpty, !rule.types.allows(node) else { return true }
        report("\(SchemaFault.describe(node)) is there; \(rule.types.phrase) is wanted")
        return false
    }

    private mutating func checkAllowed(
        _ node: JSONNode,
        _ rule: SchemaRule
    ) throws(Exhausted) {
        guard !rule.allowed.isEmpty, !mayGrow else { return }
        let bytes = CanonicalJSON.bytes(node)
        try spend(bytes.count)
        for allowed in rule.allowed where !allowed.values.contains(bytes) {
            let what = SchemaFault.describe(node)
            report(
                allowed.values.count == 1
                    ? "\(what) is there; \(allowed.phrase) is wanted"
                    : "\(what) is there; one of \(allowed.phrase) is wanted"
            )
        }
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
        var nearest: (faults: [SchemaFault], count: Int)?
        for branch in branches {
            let result = try trial(node, branch)
            if result.count == 0 {
                fitting += 1
                if !isExhaustive { return fitting }
            } else if result.count < nearest?.count ?? .max {
                nearest = result
            }
        }
        guard fitting == 0, let nearest, let first = nearest.faults.first else { return fitting }
        count += 1
        guard faults.count < Self.faultsMax else { return 0 }
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
            let bytes = CanonicalJSON.bytes(element)
            try spend(bytes.count)
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
        if !rule.required.isEmpty, !mayGrow {
            try spend(count + rule.required.count)
            let keys = Set(members.map { Array($0.key.utf8) })
            for name in rule.required where !keys.contains(Array(name.utf8)) {
                reportMissing(name, rule)
            }
        }
        for member in members {
            let own = rule.properties[Array(member.key.utf8)]
            guard let inner = own ?? rule.additional else { continue }
            if own == nil, rule.isClosed {
                reportUnknown(member.key, rule)
                continue
            }
            path.append(Self.shown(member.key))
            try check(member.value, inner)
            path.removeLast()
        }
    }

    private mutating func reportMissing(_ name: String, _ rule: ObjectRule) {
        let types = rule.properties[Array(name.utf8)].map { rules[$0].types } ?? []
        let wanted = types.isEmpty ? "a value" : types.phrase
        report("it is missing; \(wanted) is wanted", at: Self.shown(name))
    }

    private mutating func reportUnknown(_ key: String, _ rule: ObjectRule) {
        let names = rule.properties.keys.map { String(decoding: $0, as: UTF8.self) }
        let near =
            key.utf8.count <= 64 && names.count <= 64
            ? Spelling.nearest(to: key, among: names.sorted()) : nil
        let hint = near.map { "; did you mean `\(PrintableText.escaped($0))`?" } ?? ""
        report("there is no such parameter" + hint, at: Self.shown(key))
    }

    private static func shown(_ key: String) -> String {
        let cut = key.utf8.count > 128 ? String(key.prefix(64)) + "…" : key
        return SchemaPointer.escaped(cut)
    }
}
