// SPDX-License-Identifier: Apache-2.0

import Testing

/// `docs/LIMITS.md` lists each fixed limit of the sources with its value.
@Suite struct LimitIndexTests {
    private struct Limit: Hashable, CustomStringConvertible {
        /// `Type.name`.
        var name: String
        /// As the source has it.
        var value: String

        var description: String { "`\(name)` = \(value)" }
    }

    /// A constant whose name ends in `Max` or `Limit`, or in these and a unit.
    private static var constant: Regex<(Substring, Substring, Substring?, Substring?)> {
        /\bstatic (?:let|var) (\w*(?:Max|max|Limit)(?:Milliseconds|Seconds|Bytes)?)(?:: [\w.]+)?(?: = (.+)| \{ (.+) \})$/
    }

    private static var type: Regex<(Substring, Substring)> {
        /^ *(?:(?:package|public|private|fileprivate|final|internal) )*(?:struct|enum|class|actor|extension|protocol) (?:\w+\.)*(\w+)/
    }

    private static func limits(in file: SourceTree.File) -> [Limit] {
        // Most files have none, and regular expressions take long in a debug build.
        guard file.text.contains("static ") else { return [] }
        let lines = file.lines
        return lines.indices.compactMap { index in
            let line = lines[index]
            guard line.contains("static "), line.contains("ax") || line.contains("Limit"),
                let found = line.firstMatch(of: constant),
                let value = found.output.2 ?? found.output.3, value != "get"
            else { return nil }
            let indent = line.prefix { $0 == " " }.count
            let owner = lines[..<index].reversed().lazy
                .filter { $0.prefix { $0 == " " }.count < indent && !$0.isEmpty }
                .compactMap { $0.firstMatch(of: type)?.output.1 }.first
            return Limit(name: "\(owner ?? "").\(found.output.1)", value: String(value))
        }
    }

    @Test func `The page of the limits has each of them with its value`() throws {
        // The server of the sample is not part of bghost.
        let sources = try SourceTree.files(in: ["Sources"], ending: ".swift")
            .filter { !$0.path.hasPrefix("Sources/StormyStation/") }
        #expect(sources.count > 500)
        let limits = sources.flatMap { Self.limits(in: $0) }
        #expect(limits.count > 300)
        let page = try #require(try SourceTree.files(in: ["docs/LIMITS.md"]).first)
        let rows = page.lines.filter { $0.hasPrefix("| `") }
        let listed = rows.compactMap { row -> Limit? in
            let cells = row.split(separator: "|").map { $0.split(separator: "`") }
            guard cells.count == 3, cells[0].count == 3, cells[1].count == 3 else {
                Issue.record("not a row of three cells: \(row)")
                return nil
            }
            return Limit(name: String(cells[0][1]), value: String(cells[1][1]))
        }
        let missing = Set(limits).subtracting(listed)
        #expect(missing.isEmpty, "not in docs/LIMITS.md, or with another value: \(missing)")
        let gone = Set(listed).subtracting(limits)
        #expect(gone.isEmpty, "in docs/LIMITS.md, but not in the sources: \(gone)")
        #expect(Set(listed.map(\.name)).count == listed.count, "a limit has two rows")
    }

    // MARK: - The test of this test

    @Test func `A limit is found where it is`() {
        let text = """
            package struct Outer {
                static let bytesMax = 1 << 10

                private enum Inner {
                    private static let delayMax: UInt64 = 5_000
                    static var countMax: Int { Other.countMax }
                }

                let max = 3
                static let maximum = 4
                static func f(most: Int = 5) {}
            }

            extension Outer.Third {
                package static let pauseMaxMilliseconds: UInt64 = 7
            }
            """
        let found = Self.limits(in: SourceTree.File(path: "a.swift", text: text))
        #expect(
            found.map(\.description) == [
                "`Outer.bytesMax` = 1 << 10", "`Inner.delayMax` = 5_000",
                "`Inner.countMax` = Other.countMax", "`Third.pauseMaxMilliseconds` = 7",
            ]
        )
    }
}
