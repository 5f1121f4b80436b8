// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostManifest
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// The codes of errors, such as BG1021, against the texts and sources in which they stand.
@Suite struct CodeTests {
    struct Code {
        var number: String
        var explanation: String
        /// The names of the cases that lead to it.
        var names: Set<String>
    }

    /// The files that list, explain and sort codes, in which a name is no use of it.
    static let lists: Set<String> = [
        "Sources/BghostManifest/Diagnostics/DiagnosticCode.swift",
        "Sources/BghostManifest/Diagnostics/DiagnosticCode+Explanation.swift",
        "Sources/BghostAPI/Records/OperatorRefusal.swift",
        "Sources/BghostModel/Requests/Submission.swift",
        "Sources/BghostAPI/Faults/FaultCode.swift",
        "Sources/BghostCommandLine/Failures/ExitStatus.swift",
    ]

    static var codes: [Code] {
        var faults: [FaultCode: Set<String>] = [:]
        for code in FaultCode.allCases { faults[code] = ["\(code)"] }
        for code in SubmitErrorCode.allCases { faults[FaultCode(code)]?.insert("\(code)") }
        for code in OperatorRefusal.Code.allCases { faults[FaultCode(code)]?.insert("\(code)") }
        return faults.map {
            Code(number: $0.rawValue, explanation: $0.explanation, names: $1)
        }
            + DiagnosticCode.allCases.map {
                Code(number: $0.rawValue, explanation: $0.explanation, names: ["\($0)"])
            }
    }

    @Test func `Each code has one number and one text`() {
        let codes = Self.codes
        #expect(codes.count > 80)
        #expect(Set(codes.map(\.number)).count == codes.count)
        let texts = Dictionary(grouping: codes, by: \.explanation)
        for (text, same) in texts where same.count > 1 || text.isEmpty {
            Issue.record("\(same.map(\.number).sorted()) have one text: \(text)")
        }
    }

    @Test func `Each code is used`() throws {
        var words: Set<String> = []
        for file in try SourceTree.sources() where !Self.lists.contains(file.path) {
            for line in file.lines {
                let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
                // The name of a case is behind a point.
                for part in code.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
                {
                    words.insert(String(part.prefix { $0.isLetter || $0.isNumber }))
                }
            }
        }
        for code in Self.codes where code.names.isDisjoint(with: words) {
            Issue.record("\(code.number) (\(code.names.sorted())) is never reported")
        }
    }

    @Test func `Each number in sources and documents is that of a code`() throws {
        let known = Set(Self.codes.map(\.number))
        let files = try SourceTree.files(in: ["README.md", "SDK", "Sources", "docs"])
        var count = 0
        for file in files {
            for part in file.text.split(separator: "BG", omittingEmptySubsequences: false)
                .dropFirst()
            {
                let digits = part.prefix { ("0"..."9").contains($0) }
                guard digits.count == 4 else { continue }
                count += 1
                #expect(known.contains("BG" + digits), "\(file.path): BG\(digits)")
            }
        }
        #expect(count > 80)
    }
}
