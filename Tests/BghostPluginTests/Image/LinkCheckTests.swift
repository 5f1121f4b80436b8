// SPDX-License-Identifier: Apache-2.0

import BghostPlugin
import BghostTestSupport
import Glibc
import Testing

/// What the loader would miss, found without the loader.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct LinkCheckTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Links a library of one C text, and returns its path.
    private func link(_ name: String, _ text: String, _ flags: [String] = []) throws -> String {
        let source = try folder.write(text, to: name + ".c")
        let library = folder.file(name + ".so")
        let result = try Command.run(
            [Toolchain.c, "-shared", "-fPIC", "-o", library, source, "-L" + folder.path] + flags
        )
        try #require(result.exitCode == 0, "\(result.error)")
        return library
    }

    private func problem(_ path: String) -> ImageError? {
        do {
            try PluginImage.requireResolved(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [["-Wl,--hash-style=sysv"], ["-Wl,--hash-style=gnu"], ["-fuse-ld=lld"]])
    func `A complete library resolves`(flags: [String]) throws {
        #expect(problem(try Fixture.library("good", flags: flags)) == nil)
    }

    @Test(arguments: [["-Wl,--hash-style=sysv"], ["-Wl,--hash-style=gnu"], ["-fuse-ld=lld"]])
    func `Undefined symbols are named`(flags: [String]) throws {
        let path = try Fixture.library("undefined-symbol", flags: flags)
        #expect(problem(path)?.problem == .undefinedSymbols(["no_library_defines_this"], in: path))
        let message = try #require(problem(path)?.description)
        #expect(message.contains("1 symbol is undefined, no_library_defines_this"), "\(message)")
        #expect(message.contains("-z defs"))
    }

    @Test func `Weak symbols may be undefined`() throws {
        let path = try link(
            "libweak",
            "extern int perhaps(void) __attribute__((weak)); int f(void) { return perhaps ? 1 : 0; }"
        )
        #expect(problem(path) == nil)
    }

    @Test func `Library is found by its run path only`() throws {
        _ = try link("libother", "int other(void) { return 1; }", ["-Wl,-soname,libother.so"])
        let text = "int other(void); int f(void) { return other(); }"
        let lost = try link("liblost", text, ["-lother"])
        let error = problem(lost)
        #expect(error?.problem == .missingLibrary(name: "libother.so", neededBy: lost))
        #expect(error?.description.contains("it needs libother.so") == true)
        let found = try link("libfound", text, ["-lother", "-Wl,-rpath,$ORIGIN"])
        #expect(problem(found) == nil)
    }

    /// A `DT_RPATH` counts for what a needed library needs, a `DT_RUNPATH` does not.
    @Test(arguments: [(true, "--disable-new-dtags"), (false, "--enable-new-dtags")])
    func `Folders are passed on by the older tag only`(isFound: Bool, tags: String) throws {
        _ = try link("libc3", "int c3(void) { return 1; }", ["-Wl,-soname,libc3.so"])
        _ = try link(
            "libc2",
            "int c3(void); int c2(void) { return c3(); }",
            ["-lc3", "-Wl,-soname,libc2.so"]
        )
        let path = try link(
            "libc1",
            "int c2(void); int c1(void) { return c2(); }",
            ["-lc2", "-Wl,-rpath,\(folder.path)", "-Wl,\(tags)"]
        )
        #expect((problem(path) == nil) == isFound)
        #expect(try resolves(path) == isFound)
    }

    @Test func `A symbol that a needed library lacks is reported`() throws {
        let other = try link("libhollow", "void gone(void); void other(void) { gone(); }")
        let path = try link(
            "libuser",
            "void other(void); void f(void) { other(); }",
            ["-lhollow", "-Wl,-rpath,\(folder.path)"]
        )
        #expect(problem(path)?.problem == .undefinedSymbols(["gone"], in: other))
    }

    @Test func `An absent version is reported`() throws {
        func make(_ version: String) throws {
            let script = try folder.write("\(version) { global: dated; };", to: version)
            _ = try link(
                "libdated",
                "int dated(void) { return 1; }",
                ["-Wl,--version-script,\(script)", "-Wl,-soname,libdated.so"]
            )
        }
        try make("DATED_2")
        let path = try link(
            "libasks",
            "int dated(void); int f(void) { return dated(); }",
            ["-ldated", "-Wl,-rpath,\(folder.path)"]
        )
        #expect(problem(path) == nil)
        try make("DATED_1")
        let library = folder.file("libdated.so")
        #expect(
            problem(path)?.problem == .missingVersion("DATED_2", of: library, neededBy: path)
        )
        #expect(try !resolves(path))
    }

    /// Whatever a file says of its symbols and versions, there is an answer.
    @Test(arguments: SeededGenerator.seeds(4)) func `Damaged tables are answered`(seed: UInt64)
        throws
    {
        let good = try File.read(try Fixture.library("good"))
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<40 {
            var bytes = good
            for _ in 0..<Int.random(in: 4...40, using: &generator) {
                // Behind the headers lie the tables of symbols, hashes and versions.
                let index = Int.random(in: 0x200..<min(0xA00, bytes.count), using: &generator)
                bytes[index] =
                    Bool.random(using: &generator) ? .random(in: 0...255, using: &generator) : 0xFF
            }
            if problem(try folder.write(bytes, to: "damaged.so")) != nil { refused += 1 }
        }
        // The generator does reach what is checked.
        #expect(refused > 10)
    }

    /// The loader's own word: it maps the file and resolves all, as it would to load it.
    private func resolves(_ path: String) throws -> Bool {
        let result = try Command.run(["ldd", "-r", path])
        let text = result.output + result.error
        return result.exitCode == 0 && !text.contains("undefined symbol")
            && !text.contains("not found")
    }

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : .max
    }

    @Test func `Verdict is that of the loader`() throws {
        let built = ["libOverrun.so", "libSeedPlugin.so", "libWeatherCheck.so"]
        let system = try File.list("/usr/lib/\(Self.machine)-linux-gnu")
            .filter { $0.hasPrefix("lib") && $0.contains(".so.") }.sorted().prefix(24)
            .map { "/usr/lib/\(Self.machine)-linux-gnu/" + $0 }
            // One of 100 MB and more may take longer than an inspection has on a busy machine.
            .filter { size($0) < 32 << 20 }
        #expect(system.count > 8)
        for path in built.map(Artifact.path) + system {
            #expect((problem(path) == nil) == (try resolves(path)), "\(path): \(problem(path))")
        }
    }

    private static var machine: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }
}
