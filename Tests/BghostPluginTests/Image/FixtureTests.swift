// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads) struct FixtureTests {
    @Test(.timeLimit(.minutes(5))) func `Parallel builds give one file`() async throws {
        let paths = try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { try Fixture.library("no-entry") } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        let path = try #require(paths.first)
        #expect(paths.count == 1)
        #expect(access(path, R_OK) == 0)
        #expect(try Fixture.library("no-entry", defines: ["OTHER"]) != path)
    }

    @Test func `Error carries what the compiler said`() throws {
        let folder = try TemporaryDirectory()
        let source = try folder.write("int f(void) { return missing; }\n", to: "bad.c")
        let error = #expect(throws: CompileError.self) { try Fixture.library(source: source) }
        #expect(error?.output.contains("'missing'") == true)
    }

    @Test func `Temporary directory takes its tree along`() throws {
        let outside = try TemporaryDirectory()
        try outside.write("kept", to: "kept")
        var folder: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(folder?.path)
        mkdir(path + "/a", 0o755)
        try folder?.write("x", to: "a/b")
        symlink(outside.path, path + "/link")
        folder = nil
        #expect(access(path, F_OK) != 0)
        #expect(access(outside.file("kept"), F_OK) == 0)
    }
}
