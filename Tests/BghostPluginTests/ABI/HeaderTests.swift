// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import CBghost
import Testing

/// The header as its users compile it: strictly, in C and in C++, with every compiler at hand.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct HeaderTests {
    static let include = PackageRoot.path + "/SDK/Sources/CBghost/include"
    static let strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wpadded", "-Werror", "-I" + include]

    static let c = ([Toolchain.c] + ["gcc"].compactMap(Toolchain.program))
    static let cxx = ([Toolchain.cxx] + ["g++"].compactMap(Toolchain.program))

    static func compile(_ compiler: String, _ flags: [String], _ source: String) throws -> String {
        let result = try Command.run([compiler] + strict + flags + ["-fsyntax-only", source])
        return result.exitCode == 0 ? "" : result.output + result.error
    }

    @Test(arguments: c) func `Compiles as C99`(compiler: String) throws {
        let header = Self.include + "/bghost.h"
        #expect(try Self.compile(compiler, ["-std=c99", "-xc"], header) == "")
    }

    @Test(arguments: cxx) func `Compiles as C++17`(compiler: String) throws {
        let header = Self.include + "/bghost.h"
        #expect(try Self.compile(compiler, ["-std=c++17", "-xc++"], header) == "")
    }

    @Test(arguments: c.map { ($0, "-std=c11", "-xc") } + cxx.map { ($0, "-std=c++17", "-xc++") })
    func `The layout of the header holds`(compiler: String, standard: String, language: String)
        throws
    {
        let source = PackageRoot.path + "/Tests/Fixtures/ABI/layout-1.0.c"
        #expect(try Self.compile(compiler, [standard, language], source) == "")
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try File.read("\(PackageRoot.path)/\(path)"), as: UTF8.self)
    }

    /// What the layout does not have could change between two versions.
    @Test func `Layout has each struct and number`() throws {
        let header = try Self.text("SDK/Sources/CBghost/include/bghost.h")
        let layout = try Self.text("Tests/Fixtures/ABI/layout-1.0.c")
        let structs = header.matches(of: /\n} (bg_[a-z_]+);/).map { String($0.1) }
        let numbers = header.matches(of: /\n#define (BG_[A-Z_]+) +\(?-?[0-9]/).map { String($0.1) }
        #expect(structs.count > 20 && numbers.count > 40)
        for name in structs { #expect(layout.contains("HOLDS(sizeof(\(name)) "), "\(name)") }
        for name in numbers where name != "BG_ABI_MINOR" {
            #expect(layout.contains("HOLDS(\(name) == "), "\(name)")
        }
    }

    /// A condition that only C can ask for.
    @Test func `The SDK has a property for each need`() throws {
        let header = try Self.text("SDK/Sources/CBghost/include/bghost.h")
        let request = try Self.text("SDK/Sources/BackgroundTasks/Scheduling/BGTaskRequest.swift")
        let needs = header.matches(of: /#define (BG_NEEDS_[A-Z]+)/).map { String($0.1) }
        #expect(needs.count >= 3)
        for need in needs { #expect(request.contains("UInt32(\(need))"), "\(need)") }
    }

    /// That the flags do what the tests above rely on; padding shows only where a layout is used.
    @Test func `Compiler notices padding and wrong layout`() throws {
        let folder = try TemporaryDirectory()
        let padded = try folder.write(
            "struct s { char c; long l; };\nint n = sizeof(struct s);\n",
            to: "padded.c"
        )
        #expect(try Self.compile(Toolchain.c, ["-std=c99"], padded).contains("padding"))
        let wrong = try folder.write(
            "#include \"bghost.h\"\n_Static_assert(sizeof(bg_task) == 65, \"wrong\");\n",
            to: "wrong.c"
        )
        #expect(try Self.compile(Toolchain.c, ["-std=c11"], wrong).contains("wrong"))
    }

    @Test(arguments: c) func `Example is short and strict C99`(compiler: String) throws {
        let source = PackageRoot.path + "/Examples/c/weather.c"
        let lines = try File.read(source).count { $0 == UInt8(ascii: "\n") }
        #expect(lines <= 30)
        let shown = String(decoding: try File.read(source), as: UTF8.self)
        let page = String(
            decoding: try File.read(PackageRoot.path + "/docs/ABI.md"),
            as: UTF8.self
        )
        #expect(page.contains("```c\n\(shown)```"), "docs/ABI.md shows something else")
        let folder = try TemporaryDirectory()
        let library = folder.file("weather.so")
        let result = try Command.run([
            compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC",
            "-I" + Self.include, source, "-o", library,
        ])
        #expect(result.error == "")
        try #require(result.exitCode == 0)
        let note = try PluginImage.inspect(path: library).requireLoadable()
        let plugin = try PluginDescriptor.read(try EntryTable(path: library).pointer, note: note)
        #expect(plugin.id == "org.example.weather")
        #expect(plugin.handler(named: "weather.watch")?.flags == .mayBlock)
    }

    @Test func `C++ plugin is like any other`() throws {
        let path = try Fixture.library("throw")
        let note = try PluginImage.inspect(path: path).requireLoadable()
        #expect(note.runtime == "c++")
        let plugin = try PluginDescriptor.read(try EntryTable(path: path).pointer, note: note)
        #expect(plugin.handlers.map(\.name) == ["throw"])
    }
}
