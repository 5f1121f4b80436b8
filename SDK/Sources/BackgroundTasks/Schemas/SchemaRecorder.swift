// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Derives the JSON Schema of a type by decoding it from made-up values and watching what it asks for.
///
/// A derived schema must never refuse what the type would decode. So each thing that was seen is tried:
/// the value is made wrong, absent and null, and what the type tolerates is not in the schema. A type
/// whose decoding depends on values has none.
final class SchemaRecorder {
    enum Injection {
        case mismatch, absent, null
    }

    static let elementKey = "[]"
    static let depthMax = 8
    private static let stepsMax = 2000
    private static let pathsMax = 64
    private static let bytesMax = 64 << 10
    private static let mark = "bghost: a value that does not fit"

    /// Which of two made-up values is given.
    let isSecond: Bool
    private let injected: (path: [String], injection: Injection)?
    private var steps = 0
    let root = SchemaShape()

    private init(
        isSecond: Bool = false,
        injected: (path: [String], injection: Injection)? = nil
    ) {
        self.isSecond = isSecond
        self.injected = injected
    }

    // MARK: Derivation

    /// The schema of a type as JSON; "" if nothing useful is known.
    static func schema<Value: Decodable>(of type: Value.Type) -> String {
        let recorder = SchemaRecorder()
        recorder.decode(type)
        let root = recorder.root
        guard root.kind == .object, !root.members.isEmpty else { return "" }
        let other = SchemaRecorder(isSecond: true)
        other.decode(type)
        guard other.root.json == root.json else { return "" }
        let paths = root.paths()
        guard paths.count <= pathsMax else { return "" }
        for path in paths {
            guard let shape = root.find(path[...]) else { continue }
            if !isStrict(type, at: path, shape.kind) { shape.forget() }
            if !throwsMark(type, at: path, .absent) { shape.isRequired = false }
            if !throwsMark(type, at: path, .null) { shape.isNullable = true }
        }
        let json = root.json
        return json.utf8.count <= bytesMax ? json : ""
    }

    /// Whether a type decodes a value in one way only, and passes on the error if that fails.
    private static func isStrict<Value: Decodable>(
        _ type: Value.Type,
        at path: [String],
        _ kind: SchemaShape.Kind
    ) -> Bool {
        let recorder = SchemaRecorder(injected: (path, .mismatch))
        // A type that tries another way after the error has asked for another kind.
        return isMark(recorder.decode(type)) && recorder.root.find(path[...])?.kind == kind
    }

    /// Whether a type passes on the error of a value, instead of doing without it.
    private static func throwsMark<Value: Decodable>(
        _ type: Value.Type,
        at path: [String],
        _ injection: Injection
    ) -> Bool {
        isMark(SchemaRecorder(injected: (path, injection)).decode(type))
    }

    private static func isMark(_ error: (any Error)?) -> Bool {
        guard let error = error as? DecodingError else { return false }
        return switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context.debugDescription == mark
        @unknown default: false
        }
    }

    /// Decodes a value, as far as made-up values lead.
    @discardableResult
    private func decode<Value: Decodable>(_ type: Value.Type) -> (any Error)? {
        do {
            _ = try Value(from: ProbeDecoder(recorder: self, shape: root, path: []))
            return nil
        } catch {
            return error
        }
    }

    // MARK: Values

    private func isInjected(_ path: [String], _ injection: Injection) -> Bool {
        guard let injected else { return false }
        return injected.injection == injection && injected.path == path
    }

    func isPresent(_ path: [String]) -> Bool {
        path.count <= Self.depthMax && !isInjected(path, .absent)
    }

    func isNull(_ path: [String]) -> Bool { isInjected(path, .null) }

    private static var context: DecodingError.Context {
        DecodingError.Context(codingPath: [], debugDescription: mark)
    }

    /// Throws where a value is to be of another type, or null.
    func failIfInjected(_ type: Any.Type, _ path: [String]) throws {
        if isInjected(path, .mismatch) { throw DecodingError.typeMismatch(type, Self.context) }
        if isInjected(path, .null) { throw DecodingError.valueNotFound(type, Self.context) }
    }

    /// A made-up value of a type.
    func value<Value: Decodable>(
        _ type: Value.Type,
        _ shape: SchemaShape,
        _ path: [String]
    ) throws -> Value {
        if isInjected(path, .absent) {
            throw DecodingError.keyNotFound(ProbeKey(path.last ?? ""), Self.context)
        }
        steps += 1
        guard steps <= Self.stepsMax, path.count <= Self.depthMax else { throw EndOfProbe() }
        if let known = ProbeValue(type, isSecond: isSecond), let value = known.value as? Value {
            shape.note(known.kind)
            try failIfInjected(type, path)
            return value
        }
        if let choice = type as? any (CaseIterable & RawRepresentable & Decodable).Type,
            let (kind, value) = choose(choice), let chosen = value as? Value
        {
            shape.note(kind)
            try failIfInjected(type, path)
            return chosen
        }
        return try Value(from: ProbeDecoder(recorder: self, shape: shape, path: path))
    }

    /// A case of an enumeration that decodes its raw values and nothing else.
    private func choose<Choice: CaseIterable & RawRepresentable & Decodable>(
        _ type: Choice.Type
    ) -> (kind: SchemaShape.Kind, value: Any)? {
        let all = Array(type.allCases)
        let texts = all.compactMap { $0.rawValue as? String }
        guard texts.count == all.count, let first = all.first, let last = all.last else {
            return nil
        }
        let decoder = JSONDecoder()
        let reads = { (text: String) -> String? in
            let json = Data(("[" + SchemaShape.quoted(text) + "]").utf8)
            // An error is the answer of a type that does not know the text.
            return (try? decoder.decode([Choice].self, from: json))?.first?.rawValue as? String
        }
        guard reads("bghost probe") == nil, texts.allSatisfy({ reads($0) == $0 }) else {
            return nil
        }
        return (.choice(texts.map(SchemaShape.quoted)), isSecond ? last : first)
    }
}

/// The end of what made-up values can show.
struct EndOfProbe: Error {}

/// A made-up value of a type that JSON has, or that `JSONDecoder` reads in its own way.
private struct ProbeValue {
    let kind: SchemaShape.Kind
    let value: Any

    init?(_ type: any Decodable.Type, isSecond: Bool) {
        let number = isSecond ? 1 : 0
        func integer<Number: FixedWidthInteger>(_: Number.Type) -> (SchemaShape.Kind, Any) {
            var limits: [String] = []
            if Number.bitWidth < 64 || !Number.isSigned {
                limits.append("\"minimum\":\(Number.min)")
            }
            if Number.bitWidth < 64 { limits.append("\"maximum\":\(Number.max)") }
            return (
                .scalar(type: "integer", rest: limits.joined(separator: ",")), Number(number)
            )
        }
        func scalar(_ type: String, _ value: Any) -> (SchemaShape.Kind, Any) {
            (.scalar(type: type, rest: ""), value)
        }
        let found: (SchemaShape.Kind, Any)
        switch type {
        case is Bool.Type: found = scalar("boolean", isSecond)
        case is String.Type: found = scalar("string", isSecond ? "a" : "")
        case is Double.Type: found = scalar("number", Double(number))
        case is Float.Type: found = scalar("number", Float(number))
        case is Int.Type: found = integer(Int.self)
        case is Int8.Type: found = integer(Int8.self)
        case is Int16.Type: found = integer(Int16.self)
        case is Int32.Type: found = integer(Int32.self)
        case is Int64.Type: found = integer(Int64.self)
        case is UInt.Type: found = integer(UInt.self)
        case is UInt8.Type: found = integer(UInt8.self)
        case is UInt16.Type: found = integer(UInt16.self)
        case is UInt32.Type: found = integer(UInt32.self)
        case is UInt64.Type: found = integer(UInt64.self)
        case is Date.Type: found = scalar("number", Date(timeIntervalSinceReferenceDate: 0))
        case is Data.Type: found = scalar("string", Data())
        case is Decimal.Type: found = scalar("number", Decimal(number))
        case is UUID.Type: found = scalar("string", UUID())
        case is URL.Type:
            guard let url = URL(string: "https://example.org/") else { return nil }
            found = scalar("string", url)
        default: return nil
        }
        (kind, value) = found
    }
}
