// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Where code drops an error, a status or another result, a comment on the line or directly above its
/// statement says why.
///
/// A function whose result is often of no interest is `@discardableResult`, and not assigned to `_`. What a
/// call marked with `try` throws is not dropped.
@Suite struct DroppedErrorTests {
    @Test func `A dropped error has its reason`() throws {
        let files = try SourceTree.files(in: ["Sources", "SDK", "Plugins"], ending: ".swift")
        #expect(files.count > 1000)
        var found: [String: [String]] = [:]
        for file in files {
            let places = Self.places(in: file.lines)
            if !places.isEmpty { found[file.path] = places }
        }
        try Allowances().compare("dropped", found)
    }

    private static func places(in lines: [Substring]) -> [String] {
        lines.indices.filter { index in
            guard drops(lines[index]), !lines[index].contains("//") else { return false }
            // One reason may stand above several such lines, and above the first line of a statement.
            var above = index
            while above > 0 {
                let line = lines[above - 1]
                guard !line.contains("//") else { return false }
                guard drops(line) || continues(after: line) else { return true }
                above -= 1
            }
            return true
        }.map { "line \($0 + 1): \(lines[$0])" }
    }

    /// Whether a statement goes on in the line below.
    private static func continues(after line: Substring) -> Bool {
        let last = line.last { $0 != " " }
        return last == "," || last == "=" || last == "("
    }

    /// Whether the line drops an error with `try?`, or assigns the result of a call to `_`.
    private static func drops(_ line: Substring) -> Bool {
        // Most lines have neither, and to split millions of them takes seconds.
        let bytes = line.utf8
        guard bytes.contains(UInt8(ascii: "?")) || bytes.contains(UInt8(ascii: "_")) else {
            return false
        }
        let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
        if code.contains("try?"),
            code.split(whereSeparator: { !$0.isLetter && $0 != "?" }).contains("try?")
        {
            return true
        }
        guard let start = code.firstRange(of: "_ = ") else { return false }
        let before = code[..<start.lowerBound]
        if let last = before.last, last.isLetter || last.isNumber || last == "_" { return false }
        // `if case let _ = …` and `var _ = …` match a pattern.
        if ["let ", "var ", "case "].contains(where: before.hasSuffix) { return false }
        var call = code[start.upperBound...]
        if call.hasPrefix("try ") { return false }
        if call.hasPrefix("await ") { call = call.dropFirst(6) }
        // `with…` lends something to the call that follows.
        if call.contains("table.pointee.") { return true }
        let name = call.prefix { $0.isLetter || $0.isNumber || "_.$?!".contains($0) }
        let rest = call[name.endIndex...]
        guard !name.isEmpty, rest.hasPrefix("(") || rest.hasPrefix(" {") else { return false }
        return !isOfCollections(name)
    }

    /// Whether a call takes an element out of a value, or puts one into it: what it returns is that element,
    /// and no error.
    private static func isOfCollections(_ name: Substring) -> Bool {
        name.hasPrefix("$0.")
            && ["insert", "remove", "removeValue"].contains {
                name.hasSuffix(".\($0)")
            } || name.hasSuffix(".popLast")
    }

    @Test func `A dropped error is found where it is`() {
        for line in [
            "let a = try? f()", "guard let b = try? g(), c else {", "_ = try? h()",
            "_ = bgs_collect(pid)", "defer { _ = Glibc.kill(pid, 9) }", "_ = SHA256_Init(&context)",
            "name.withBgStr { _ = table.pointee.log?(table, $0) }", "_ = configure(worker)",
            "_ = await host.stop(run: id)", "work { _ = runtime.start(start) }",
            "_ = calls.remove(number)", "_ = threads.withLock { $0.end() }",
        ] {
            let line = line[...]
            #expect(Self.places(in: [line]).count == 1, "\(line)")
            #expect(Self.places(in: ["// A reason.", line]).isEmpty, "\(line)")
            #expect(Self.places(in: ["// A reason.", line, line]).isEmpty, "\(line)")
            #expect(Self.places(in: ["// A reason.", "guard a,", line]).isEmpty, "\(line)")
            #expect(Self.places(in: [line + "  // A reason."]).isEmpty, "\(line)")
            // A comment that stands near it may be about something else.
            #expect(Self.places(in: ["// Something else.", "", line]).count == 1, "\(line)")
            #expect(Self.places(in: ["// Something else.", "f()", line]).count == 1, "\(line)")
        }
        for line in [
            "let a = try f()", "// as try? does", "_ = try rows()", "_ = queue.popLast()",
            "let bytes_ = write(1)", "names.withLock { _ = $0.insert(name) }", "{ _, _ in }",
            "_ = Self.isSetUp", "let _ = f()",
        ] {
            #expect(Self.places(in: [line[...]]).isEmpty, "\(line)")
        }
    }
}
