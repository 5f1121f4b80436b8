// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// `docs/COMPATIBILITY.md` promises the sizes and numbers of the header.
///
/// `HeaderTests` compiles the layout against the header and finds what the layout lacks, so the tables are
/// generated from the layout.
@Suite struct CompatibilityTests {
    private static let page = PackageRoot.path + "/docs/COMPATIBILITY.md"
    private static let begin =
        "<!-- Generated: BGHOST_WRITE_API=1 with the test CompatibilityTests. -->\n"
    private static let end = "<!-- End of the generated part. -->\n"

    private static func text(_ path: String) throws -> String {
        String(decoding: try File.read(path), as: UTF8.self)
    }

    /// The tables, each row from a line `HOLDS(...)` of the layout.
    private static func tables() throws -> String {
        let layout = try text(PackageRoot.path + "/Tests/Fixtures/ABI/layout-1.0.c")
        let sizes = layout.matches(of: /\nHOLDS\(sizeof\((bg_[a-z_]+)\) (==|>=) ([0-9]+)\);/)
        let numbers = layout.matches(of: /\nHOLDS\((BG_[A-Z_]+) == (-?[0-9a-fx]+)u?\);/)
        try #require(sizes.count > 20 && numbers.count > 40)
        let structs = sizes.map { match in
            let bound = match.2 == ">=" ? "at least " : ""
            return "| `\(match.1)` | \(bound)\(match.3) |"
        }
        let macros = numbers.map { "| `\($0.1)` | \($0.2) |" }
        let header = try text(PackageRoot.path + "/SDK/Sources/CBghost/include/bghost.h")
        let extensions = header.matches(of: /\n#define (BG_EXT_[A-Z]+) "([^"]+)"/).map {
            "| `\($0.1)` | `\($0.2)` |"
        }
        try #require(extensions.count >= 9)
        return
            (["| struct | bytes |", "| --- | --- |"] + structs
            + ["", "| extension | name |", "| --- | --- |"] + extensions
            + ["", "| number | value |", "| --- | --- |"] + macros + [""])
            .joined(separator: "\n")
    }

    @Test func `The page promises the sizes, extensions and numbers of the header`() throws {
        let page = try Self.text(Self.page)
        let first = try #require(page.firstRange(of: Self.begin))
        let last = try #require(page.firstRange(of: Self.end))
        let tables = try Self.tables()
        let generated = "\(page[..<first.upperBound])\(tables)\(page[last.lowerBound...])"
        if getenv("BGHOST_WRITE_API") != nil {
            try File.write(generated.utf8, to: Self.page)
        }
        let committed = try Self.text(Self.page)
        #expect(
            committed == generated,
            "after a change of the ABI that the page permits, BGHOST_WRITE_API=1 writes its tables"
        )
    }
}
