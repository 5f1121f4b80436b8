// SPDX-License-Identifier: Apache-2.0

/// Finds the string literals of a Swift file, without what is interpolated into them.
struct StringLiterals {
    /// The texts, in their order.
    private(set) var texts: [String] = []
    private let bytes: [UInt8]
    private var at = 0

    init(of source: String) {
        bytes = Array(source.utf8)
        code(until: nil)
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private func has(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[at...].starts(with: $0) }
    }

    /// Reads code up to a closing parenthesis, or to the end of the file.
    private mutating func code(until end: UInt8?) {
        var depth = 0
        while let byte = next {
            if has("//") {
                while let byte = next, byte != UInt8(ascii: "\n") { at += 1 }
            } else if has("/*") {
                while at < bytes.count, !has("*/") { at += 1 }
                at += 2
            } else if byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\"") {
                literalOrHash()
            } else {
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") {
                    if depth == 0, end != nil { return }
                    depth -= 1
                }
                at += 1
            }
        }
    }

    /// Reads a literal with as many `#` before it as there are; `#` alone is no literal.
    private mutating func literalOrHash() {
        var hashes = 0
        while next == UInt8(ascii: "#") {
            hashes += 1
            at += 1
        }
        guard next == UInt8(ascii: "\"") else { return }
        let quotes = has("\"\"\"") ? 3 : 1
        at += quotes
        let end = [UInt8](repeating: UInt8(ascii: "\""), count: quotes) + Self.hashes(hashes)
        let escape = [UInt8(ascii: "\\")] + Self.hashes(hashes)
        var text: [UInt8] = []
        while let byte = next, !bytes[at...].starts(with: end) {
            guard bytes[at...].starts(with: escape) else {
                text.append(byte)
                at += 1
                continue
            }
            at += escape.count
            if next == UInt8(ascii: "(") {
                at += 1
                code(until: UInt8(ascii: ")"))
                text.append(UInt8(ascii: "_"))
            } else {
                text.append(UInt8(ascii: " "))
            }
            at += 1
        }
        at += end.count
        texts.append(String(decoding: text, as: UTF8.self))
    }

    private static func hashes(_ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "#"), count: count)
    }
}
