// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Synchronization

/// A value that is JSON already, such as the parameters of a request or the result of a run.
///
/// It passes through `APICoder` unchanged, with the order of its keys, and with numbers that neither 64
/// bits nor a `Decimal` can hold. `JSONEncoder` cannot write a text as it is. The part therefore writes a
/// mark, which `APICoder` replaces by the text.
package struct JSONPart: Equatable, Sendable {
    /// One JSON value without white space.
    package var text: String

    /// - Parameter text: what is not JSON, for instance a faulty result of a plugin, becomes null, so that
    ///   it cannot break the answer.
    package init(_ text: String) {
        // Most requests have "{}".
        self.text = text == "{}" ? text : (try? JSONReader.parse(text))?.text ?? "null"
    }

    init(_ node: JSONNode) { text = node.text }

    static let collectorKey = CodingUserInfoKey(rawValue: "parts")
    static let documentKey = CodingUserInfoKey(rawValue: "document")

    /// The parts of one text that is being written.
    final class Collector: Sendable {
        /// Not in any text of others: it is random, and never leaves the process.
        private static let mark: String = {
            let number = String(UInt64.random(in: .min ... .max), radix: 16)
            let other = String(UInt64.random(in: .min ... .max), radix: 16)
            // DEL is rare and is not escaped, so one comparison rules out nearly every byte.
            return "\u{7F}\(number)-\(other)-"
        }()

        private let parts = Mutex<[String]>([])

        /// Keeps a text.
        ///
        /// - Returns: the string to write in its place.
        func add(_ text: String) -> String {
            parts.withLock { parts in
                parts.append(text)
                return Self.mark + String(parts.count - 1)
            }
        }

        /// The bytes with each mark replaced by its text.
        func inserted(into bytes: some Sequence<UInt8>) -> [UInt8] {
            let bytes = Array(bytes)
            let parts = parts.withLock { $0 }
            guard !parts.isEmpty else { return bytes }
            let mark = Array(Self.mark.utf8)
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + parts.reduce(0) { $0 + $1.utf8.count })
            var copied = 0
            var index = 0
            while index < bytes.count {
                guard bytes[index] == mark[0], bytes[index...].starts(with: mark),
                    let end = bytes[index...].firstIndex(of: UInt8(ascii: "\""))
                else {
                    index += 1
                    continue
                }
                let digits = String(decoding: bytes[(index + mark.count)..<end], as: UTF8.self)
                guard let number = Int(digits), parts.indices.contains(number) else {
                    index = end
                    continue
                }
                // Without the quotation marks around the mark.
                result += bytes[copied..<(index - 1)]
                result += parts[number].utf8
                index = end + 1
                copied = index
            }
            result += bytes[copied...]
            return result
        }
    }
}

extension JSONPart: Codable {
    package init(from decoder: any Decoder) throws {
        guard let key = Self.documentKey, var node = decoder.userInfo[key] as? JSONNode else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "only APICoder reads this")
            )
        }
        for key in decoder.codingPath {
            let child = key.intValue.flatMap { node.element($0) } ?? node[key.stringValue]
            guard let child else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no such value")
                )
            }
            node = child
        }
        self.init(node)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        // The two most frequent values need no mark.
        if text == "null" { return try container.encodeNil() }
        if text == "{}" { return try container.encode([String: Bool]()) }
        guard let key = Self.collectorKey, let parts = encoder.userInfo[key] as? Collector else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "only APICoder writes this")
            )
        }
        try container.encode(parts.add(text))
    }
}

extension JSONNode {
    fileprivate func element(_ index: Int) -> JSONNode? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}
