// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// A plugin of the next minor in this host: `docs/COMPATIBILITY.md` promises that it runs.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct NextMinorTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(NextMinor.header(), to: "bghost.h")
    }

    private func library(_ options: [String] = []) throws -> String {
        let library = folder.file("libnext.so")
        let source = PackageRoot.path + "/Tests/Fixtures/ABI/next-minor.c"
        let built = try Command.run(
            [Toolchain.c, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
                + ["-fvisibility=hidden", "-Wno-missing-field-initializers"]
                + ["-I" + folder.path, source, "-o", library] + options
        )
        try #require(built.exitCode == 0, "\(built.error)")
        return library
    }

    @Test func `A plugin of the next minor runs, its structs are read to their known end`() throws {
        let ran = try Command.run([
            Artifact.path("bghost"), "plugin", "run", try library(), "--json",
        ])
        #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
        let last = try #require(ran.output.split(separator: "\n").last)
        // -13 is BG_E_PERM: the host has read the struct, and its manifest does not permit what it asks for.
        #expect(
            try JSONReader.parse(String(last))["run"]?["result"]?.text
                == #"{"submit":0,"pending":0,"total":1,"task":0,"refresh":0,"identity":0,"#
                + #""fetch":0,"transfer":-13,"post":-13,"later":14}"#,
            "\(ran.output)"
        )
    }

    @Test func `A plugin that cannot do without the next minor is refused`() throws {
        let refused = try Command.run([
            Artifact.path("bghost"), "plugin", "run", try library(["-DNEXT_HOST_MINOR=1"]),
        ])
        #expect(refused.exitCode == 1)
        #expect(refused.error.contains("1.1 or later"), "\(refused.error)")
    }
}

/// What the SDK may look like in the next minor.
enum NextMinor {
    /// `bghost.h` with a field more in each struct and a function more in each table.
    static func header() throws -> String {
        let path = PackageRoot.path + "/SDK/Sources/CBghost/include/bghost.h"
        var header = String(decoding: try File.read(path), as: UTF8.self)
        let structs = header.matches(of: /\n} (bg_[a-z_]+);/).map { String($0.1) }
        // These two have no size, so no minor appends to them.
        for name in structs where !["bg_str", "bg_transfer"].contains(name) {
            header.replace("\n} \(name);", with: "\n  uint64_t later;\n} \(name);")
        }
        for place in ["  /* Minor 1 appends here. */\n};", "(*release)(void *plugin"] {
            try #require(header.contains(place), "the header has changed its form: \(place)")
        }
        header.replace(
            "  /* Minor 1 appends here. */\n",
            with: "  bg_status (*later)(const bg_host *) BG_NOEXCEPT;\n"
        )
        let end = "state) BG_NOEXCEPT;\n"
        header.replace(end + "};", with: end + "  uint64_t later;\n};")
        header.replace("#define BG_ABI_MINOR 0", with: "#define BG_ABI_MINOR 1")
        return header
    }

    /// `bghost.rs` with a function more in each table.
    static func rust() throws -> String {
        let path = PackageRoot.path + "/Examples/rust/bghost.rs"
        let tables =
            "host|schedule|statuses|runs|checkpoints|main|fetches|transfers|wakes|notifier|clock|traces"
        let table = try Regex(
            "(pub struct bg_(?:\(tables)) \\{(?s:.*?))\n    }",
            as: (Substring, Substring).self
        )
        return String(decoding: try File.read(path), as: UTF8.self)
            .replacing(table) { $0.1 + "\n        pub later: usize,\n    }" }
    }
}
