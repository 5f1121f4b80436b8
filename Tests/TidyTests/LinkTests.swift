// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// The pages: their links lead somewhere, and the paths that maintainers look up exist.
@Suite struct LinkTests {
    /// The lines of a page outside of its code blocks.
    private static func prose(_ page: SourceTree.File) -> [Substring] {
        var isCode = false
        return page.lines.filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode
        }
    }

    private static func exists(_ path: String) -> Bool {
        access("\(PackageRoot.path)/\(path)", F_OK) == 0
    }

    /// The name by which a link finds a heading, as GitHub makes it.
    private static func anchor(_ heading: Substring) -> String {
        heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
            .filter { $0.isLetter || $0.isNumber || "-_".contains($0) }
    }

    @Test func `Each relative link leads to a file and a heading`() throws {
        let roots = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "docs"]
        let pages = try SourceTree.files(in: roots, ending: ".md")
        #expect(pages.count > 20)
        for page in pages {
            let folder = page.path.split(separator: "/").dropLast().map { "\($0)/" }.joined()
            let links = Self.prose(page).flatMap { $0.matches(of: /\]\(([^)\s]+)\)/) }
            for link in links.map(\.output.1) where !link.contains("://") {
                let path = link.prefix { $0 != "#" }
                let target = path.isEmpty ? page.path : folder + path
                try #require(Self.exists(target), "\(page.path): \(link)")
                let name = String(link.dropFirst(path.count + 1))
                if name.isEmpty { continue }
                let bytes = try File.read("\(PackageRoot.path)/\(target)")
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let headings = lines.filter { $0.hasPrefix("#") }.map(Self.anchor)
                #expect(headings.contains(name), "\(page.path): \(link)")
            }
        }
    }

    @Test(arguments: ["CONTRIBUTING.md", "docs/ARCHITECTURE.md"])
    func `Each path of the maintainers' pages exists`(of page: String) throws {
        let text = try #require(try SourceTree.files(in: [page]).first).text
        // With a slash, and nothing that stands for several: `BghostPolicy/Requests`, not `/v1/tasks`.
        let spans = text.matches(of: /`((?:[A-Z][A-Za-z]+|docs)\/[A-Za-z0-9_+.\/-]*)`/)
        #expect(spans.count > 20)
        for path in spans.map(\.output.1) {
            let place = (path.hasPrefix("Bghost") ? "Sources/" : "") + path
            #expect(Self.exists(place), "\(page): \(place)")
        }
    }
}
