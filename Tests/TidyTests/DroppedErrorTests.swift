// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Where code drops an error or a status, a comment on the line or on one of the three above says why.
@Suite struct DroppedErrorTests {
    /// Functions of C that answer with a status, and whose names have no mark of their own.
    private static let systemCalls: Set<Substring> = [
        "chdir", "chmod", "close", "fchmod", "fcntl", "fsync", "ftruncate", "kill", "mkdir", "poll",
        "read", "rename", "rmdir", "send", "unlink", "waitpid", "write",
    ]

    /// How the names of other such functions begin.
    private static let prefixes = ["bgs_", "crypto_", "inet_", "sqlite3_", "table.pointee."]

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
            guard drops(lines[index]) else { return false }
            let above = lines[max(0, index - 3)..<index]
            return !lines[index].contains("//") && !above.contains { $0.contains("//") }
        }.map { "line \($0 + 1): \(lines[$0])" }
    }

    /// Whether the line drops an error with `try?`, or assigns the status of a function of C to `_`.
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
        if let before = code[..<start.lowerBound].last, before.isLetter || before == "_" {
            return false
        }
        var call = code[start.upperBound...]
        if call.hasPrefix("Glibc.") { call = call.dropFirst(6) }
        // `with…` lends something to the call that follows.
        if call.contains("table.pointee.") { return true }
        let name = call.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        guard call[name.endIndex...].hasPrefix("(") else { return false }
        return systemCalls.contains(name) || prefixes.contains { name.hasPrefix($0) }
            // BoringSSL's, such as `SHA256_Init`.
            || name == "HMAC"
            || name.prefix(2).allSatisfy(\.isUppercase) && name.contains("_")
    }

    @Test func `A dropped error is found where it is`() {
        for line in [
            "let a = try? f()", "guard let b = try? g(), c else {", "_ = try? h()",
            "_ = bgs_collect(pid)", "defer { _ = Glibc.kill(pid, 9) }", "_ = SHA256_Init(&context)",
            "name.withBgStr { _ = table.pointee.log?(table, $0) }",
        ] {
            #expect(Self.places(in: [line[...]]).count == 1, "\(line)")
            #expect(Self.places(in: ["// A reason.", "", line[...]]).isEmpty, "\(line)")
            #expect(Self.places(in: [line[...] + "  // A reason."]).isEmpty, "\(line)")
        }
        for line in [
            "let a = try f()", "// as try? does", "_ = try rows()", "_ = queue.popFirst()",
            "let bytes_ = write(1)", "_ = state.remove(number)", "{ _, _ in }",
        ] {
            #expect(Self.places(in: [line[...]]).isEmpty, "\(line)")
        }
    }
}
