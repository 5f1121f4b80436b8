// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Generates unusual JSON objects from a seed.
struct OddText {
    private static let names = ["name", "id", "path", "url", "count", "items", "a/b~c", ""]
    private static let strings = [
        "", " ", "%s%n", "../../../../etc/passwd", "/dev/full", "\u{202E}txt.exe",
        "e\u{301}\u{301}",
        "😀", "\u{0}", "\u{1B}[2J", "-1", "NaN", "http://[::1", String(repeating: "a", count: 5000),
    ]
    private static let numbers = [
        "0", "-0", "-1", "1e308", "1e-400", "9007199254740993", "18446744073709551616",
        "-9223372036854775808", "0.1",
    ]

    var random: SplitMix64
    /// Parameters that are valid for the plugin; some objects are variations of them.
    let known: JSONNode?

    init(seed: UInt64, known: String) {
        random = SplitMix64(seed: seed)
        // The command line has rejected invalid JSON; without valid parameters the objects are only
        // less varied.
        self.known = try? JSONReader.parse(Array(known.utf8), dialect: .strict)
    }

    /// The fixed unusual objects, followed by `count` random ones.
    mutating func texts(_ count: Int) -> [String] {
        let nested = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let long = String(repeating: "x", count: 60 << 10)
        let wide = (0..<2000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        return ["{}", "{\"a\":\(nested)}", "{\"long\":\"\(long)\"}", "{\(wide)}"]
            + (0..<count).map { _ in object() }
    }

    /// A text, shortened for a message.
    static func brief(_ text: String) -> String {
        let bytes = text.utf8.count
        return bytes <= 120 ? text : String(text.prefix(100)) + "… (\(bytes) bytes)"
    }

    private mutating func object() -> String {
        var writer = JSONWriter()
        let members = known?.object ?? []
        var seen: Set<String> = []
        writer.object { writer in
            for member in members where seen.insert(member.key).inserted {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: continue
                case 1: writer.member(member.key, member.value)
                default: writer.member(member.key, raw: value(depth: 0))
                }
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let name = Self.names.randomElement(using: &random) ?? ""
                guard seen.insert(name).inserted else { continue }
                writer.member(name, raw: value(depth: 0))
            }
        }
        return writer.text
    }

    private mutating func value(depth: Int) -> String {
        var writer = JSONWriter()
        switch Int.random(in: 0..<(depth < 3 ? 7 : 5), using: &random) {
        case 0: writer.null()
        case 1: writer.value(Bool.random(using: &random))
        case 2: writer.raw(Self.numbers.randomElement(using: &random) ?? "0")
        case 3, 4: writer.value(Self.strings.randomElement(using: &random))
        case 5:
            writer.array { writer in
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    writer.raw(value(depth: depth + 1))
                }
            }
        default:
            writer.object { writer in
                let name = Self.names.randomElement(using: &random) ?? ""
                writer.member(name, raw: value(depth: depth + 1))
            }
        }
        return writer.text
    }
}
