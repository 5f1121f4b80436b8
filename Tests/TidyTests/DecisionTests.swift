// SPDX-License-Identifier: Apache-2.0

import Testing

/// The decisions in `docs/adr`: their form and their index.
@Suite struct DecisionTests {
    /// The files of decisions: all but the index.
    private static func decisions() throws -> [SourceTree.File] {
        try SourceTree.files(in: ["docs/adr"], ending: ".md").filter {
            !$0.path.hasSuffix("/README.md")
        }
    }

    private static func name(of file: SourceTree.File) -> Substring {
        file.path.split(separator: "/").last ?? ""
    }

    /// What a decision lacks of its form, one line each.
    private static func faults(in file: SourceTree.File) -> [String] {
        var faults: [String] = []
        let number = name(of: file).prefix { $0 != "-" }
        let isNumber = number.count == 4 && number.allSatisfy(\.isNumber)
        let title = file.lines.first ?? ""
        if !isNumber || !title.hasPrefix("# \(number): ") {
            faults.append("its first line is not `# \(number): TITLE`")
        }
        var last: String.Index?
        for part in ["Context", "Decision", "Alternatives", "Cost"] {
            // At the beginning of a paragraph, and once.
            let places = file.text.ranges(of: "\n\n**\(part).**")
            guard places.count == 1, let place = places.first?.lowerBound else {
                faults.append("it has not one paragraph that begins with `**\(part).**`")
                continue
            }
            if let last, place < last { faults.append("`\(part)` stands too early") }
            last = place
        }
        return faults
    }

    @Test func `Each decision has a title, context, decision, alternatives and cost`() throws {
        let files = try Self.decisions()
        #expect(files.count > 100)
        for file in files {
            let faults = Self.faults(in: file)
            #expect(faults.isEmpty, "\(file.path): \(faults)")
        }
        let numbers = files.map { Self.name(of: $0).prefix(4) }
        #expect(Set(numbers).count == numbers.count, "a number has two decisions")
    }

    @Test func `The index has each decision once, by its title`() throws {
        let index = try #require(try SourceTree.files(in: ["docs/adr/README.md"]).first)
        let listed = index.lines.filter { $0.hasPrefix("* [") }.map(String.init)
        let titles = try Self.decisions().map { file in
            "* [\((file.lines.first ?? "").dropFirst(2))](\(Self.name(of: file)))"
        }
        #expect(Set(titles).subtracting(listed).isEmpty, "not in the index, or by another title")
        #expect(listed.count == titles.count)
    }

    // MARK: - The test of these tests

    @Test func `A decision without its form is found`() {
        func faults(_ text: String) -> Int {
            Self.faults(in: SourceTree.File(path: "docs/adr/0101-a.md", text: text)).count
        }
        let parts = "\n\n**Context.** a\n\n**Decision.** b\n\n**Alternatives.** c\n\n**Cost.** d\n"
        #expect(faults("# 0101: A" + parts) == 0)
        #expect(faults("# 0101 A" + parts) == 1)
        #expect(faults("# 0102: A" + parts) == 1)
        #expect(faults("# 0101: A" + parts.replacing("**Cost.**", with: "Its cost:")) == 1)
        #expect(faults("# 0101: A" + parts.replacing("\n\n**Cost", with: " **Cost")) == 1)
        #expect(faults("# 0101: A\n\n**Cost.** d" + parts) == 1)
        let swapped = parts.replacing("Context", with: "x").replacing("Decision", with: "Context")
        #expect(faults("# 0101: A" + swapped.replacing("**x.", with: "**Decision.")) == 1)
    }
}
