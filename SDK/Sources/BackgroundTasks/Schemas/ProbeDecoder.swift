// SPDX-License-Identifier: Apache-2.0

/// A key of a made-up value.
struct ProbeKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// Gives made-up values, and records what is asked for.
struct ProbeDecoder: Decoder {
    let recorder: SchemaRecorder
    let shape: SchemaShape
    let path: [String]

    var codingPath: [any CodingKey] { path.map(ProbeKey.init) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        shape.note(.object)
        try recorder.failIfInjected([String: Any].self, path)
        return KeyedDecodingContainer(ProbeObject(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        shape.note(.array)
        try recorder.failIfInjected([Any].self, path)
        return ProbeArray(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeSingle(decoder: self) }
}

private struct ProbeObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    /// An object whose keys are data, such as a dictionary, is empty.
    var allKeys: [Key] { [] }

    private func path(_ key: Key) -> [String] { decoder.path + [key.stringValue] }

    func contains(_ key: Key) -> Bool { decoder.recorder.isPresent(path(key)) }

    func decodeNil(forKey key: Key) -> Bool { decoder.recorder.isNull(path(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let shape = decoder.shape.member(key.stringValue)
        return try decoder.recorder.value(type, shape, path(key))
    }

    // What is nested by hand is not tried by itself, so nothing is said of it.

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw EndOfProbe()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw EndOfProbe()
    }

    func superDecoder() throws -> any Decoder { throw EndOfProbe() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw EndOfProbe() }
}

/// An array of one element.
private struct ProbeArray: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    private(set) var currentIndex = 0

    init(decoder: ProbeDecoder) { self.decoder = decoder }

    private var path: [String] { decoder.path + [SchemaRecorder.elementKey] }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 || !decoder.recorder.isPresent(path) }

    mutating func decodeNil() -> Bool {
        guard decoder.recorder.isNull(path) else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // A second element of its own is a form that `items` cannot describe.
        guard currentIndex == 0 else {
            decoder.shape.forget()
            throw EndOfProbe()
        }
        currentIndex += 1
        return try decoder.recorder.value(type, decoder.shape.elements(), path)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        throw EndOfProbe()
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw EndOfProbe()
    }

    mutating func superDecoder() throws -> any Decoder { throw EndOfProbe() }
}

private struct ProbeSingle: SingleValueDecodingContainer {
    let decoder: ProbeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.recorder.isNull(decoder.path) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.recorder.value(type, decoder.shape, decoder.path)
    }
}
