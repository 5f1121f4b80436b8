// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads) struct PluginImageTests {
    @Test func `Describes good plugin`() throws {
        let image = try PluginImage.inspect(path: Fixture.library("good"))
        let note = PluginNote(abiMajor: 1, abiMinor: 0, id: "test.good", runtime: "c")
        #expect(image.note == note)
        #expect(image.entry == .function)
        #expect(image.otherMajors == [])
        #expect(image.extraExports == 0)
        #expect(image.needed.contains("libc.so.6"))
        #expect(image.concerns == [])
        #expect(try image.requireLoadable() == note)
    }

    @Test(arguments: [
        ["-Wl,--hash-style=sysv"], ["-Wl,--hash-style=gnu"], ["-Wl,--hash-style=both"],
        ["-fuse-ld=lld"], ["-Wl,--strip-all"], ["-Wl,-soname,libgood.so.1"],
    ])
    func `Describes what any linker makes`(flags: [String]) throws {
        let image = try PluginImage.inspect(path: Fixture.library("good", flags: flags))
        #expect(try image.requireLoadable().id == "test.good")
        #expect(image.soname == (flags.contains { $0.contains("soname") } ? "libgood.so.1" : nil))
    }

    @Test func `Escapes names that are no text`() throws {
        let path = try Fixture.library("good", flags: ["-Wl,-soname,a\u{1B}[31mb"])
        #expect(try PluginImage.inspect(path: path).soname == #""a\x1b[31mb""#)
    }

    @Test func `Finds note outside of segments`() throws {
        let image = try PluginImage.inspect(path: Fixture.library("note-in-section"))
        #expect(try image.requireLoadable().id == "test.note-in-section")
    }

    @Test func `Describes library that is no plugin`() throws {
        let image = try PluginImage.inspect(path: Fixture.library("no-entry"))
        #expect(image.entry == .absent)
        #expect(image.extraExports == 1)
        let error = #expect(throws: ImageError.self) { try image.requireLoadable() }
        #expect(error?.code == "no-entry")
    }

    @Test func `Describes system library`() throws {
        let maps = String(decoding: try File.read("/proc/self/maps"), as: UTF8.self)
        let path = maps.split(separator: "\n").compactMap { $0.split(separator: " ").last }
            .first { $0.hasSuffix("/libc.so.6") }
        let image = try PluginImage.inspect(path: String(#require(path)))
        #expect(image.soname == "libc.so.6")
        #expect(image.extraExports > 1000)
        #expect(image.note == nil)
        #expect(image.concerns.contains(.ownAllocator))
    }

    /// Inspecting runs nothing: a constructor would end this process or never return.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["crash-in-constructor", "exit-in-constructor", "hang-in-constructor"]
    )
    func `An inspection runs nothing of the plugin`(fixture: String) throws {
        let image = try PluginImage.inspect(path: Fixture.library(fixture))
        #expect(try image.requireLoadable().id == "test." + fixture)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var fixture: String
        var defines: [String] = []
        var code: String
        var says: String

        var testDescription: String { ([fixture] + defines).joined(separator: " ") }
    }

    @Test(arguments: [
        Refusal(fixture: "no-entry", code: "no-entry", says: "exports no bghost_plugin_v1. Define"),
        Refusal(
            fixture: "entry-v2-only",
            code: "no-entry",
            says: "it offers bghost_plugin_v2: it needs a newer bghost"
        ),
        Refusal(fixture: "entry-is-data", code: "entry-not-function", says: "as data"),
        Refusal(fixture: "no-note", code: "no-note", says: "Add BG_NOTE("),
        Refusal(
            fixture: "note-abi-2",
            code: "wrong-abi",
            says: "abi=2.0, this bghost offers 1.0. It needs a newer bghost"
        ),
        Refusal(fixture: "torn-note", code: "torn-note", says: "has 4000 bytes, of which the last"),
        Refusal(fixture: "two-notes", code: "torn-note", says: "there are 2 notes"),
        Refusal(fixture: "note-text", code: "torn-note", says: "5120 bytes, at most 4096"),
        text("", says: "the key abi is missing"),
        text("hello", says: "\"hello\" is not key=value"),
        text("abi=1;id=a.b", says: "abi is \"1\", not MAJOR.MINOR"),
        text("abi=+1.0;id=a.b", says: "abi is \"+1.0\""),
        text("abi=1.65536;id=a.b", says: "abi is \"1.65536\""),
        text("abi=1.0;id=", says: "id is \"\""),
        text("abi=1.0;id=../../etc", says: "id is \"../../etc\""),
        text("abi=1.0;id=a;id=b", says: "the key \"id\" stands there twice"),
        text("abi=1.0;id=a\\0b", says: "goes on behind a NUL"),
        text("abi=1.0;id=\\xff", says: "not UTF-8: \"abi=1.0;id=\\xff\""),
        text("abi=1.0;id=a;runtime=\\x1b[31m", says: "runtime is \"\\x1b[31m\""),
    ])
    func `Libraries that cannot be loaded are refused`(refusal: Refusal) throws {
        let path = try Fixture.library(refusal.fixture, defines: refusal.defines)
        let error = #expect(throws: ImageError.self) {
            try PluginImage.inspect(path: path).requireLoadable()
        }
        #expect(error?.code == refusal.code)
        #expect(error?.description.hasPrefix(path + ": ") == true)
        #expect(error?.description.contains(refusal.says) == true, "\(String(describing: error))")
    }

    static func text(_ note: String, says: String) -> Refusal {
        Refusal(
            fixture: "note-text",
            defines: ["TEXT=\"\(note)\""],
            code: "torn-note",
            says: says
        )
    }

    @Test func `Skips keys of later minors`() throws {
        let path = try Fixture.library(
            "note-text",
            defines: ["TEXT=\"abi=1.7;needs=more;id=a.b;\""]
        )
        let note = try PluginImage.inspect(path: path).requireLoadable()
        #expect(note == PluginNote(abiMajor: 1, abiMinor: 7, id: "a.b"))
    }

    @Test(arguments: [
        (["STATIC_TLS"], [], PluginImage.Concern.staticTLS),
        (["TEXT_RELOCATION"], ["-Wl,-z,notext"], .textRelocations),
        ([], ["-Wl,-z,execstack"], .executableStack),
        (["GO"], [], .goRuntime),
        (["ALLOCATOR"], ["-fno-builtin"], .ownAllocator),
    ])
    func `An inspection names each concern`(
        defines: [String],
        flags: [String],
        concern: PluginImage.Concern
    ) throws {
        let path = try Fixture.library("concerns", defines: defines, flags: flags)
        let image = try PluginImage.inspect(path: path)
        #expect(image.concerns == [concern])
        #expect(try image.requireLoadable().id == "test.concerns")
        let error = Result { () throws(ImageError) in try image.requireLoadable(inDaemon: true) }
        switch error {
        case .success: #expect(concern != .goRuntime)
        case .failure(let error):
            #expect(concern == .goRuntime && error.code == "needs-worker")
            #expect(error.description.contains("`\"isolation\": \"worker\"`"))
        }
    }

    /// The note declares the runtime, the file has it: the daemon heeds either, the checks need both.
    @Test(arguments: [
        (["LIKE_GO"], false), (["LIKE_GO_FILE"], false), (["LIKE_GO", "LIKE_GO_FILE"], true),
    ])
    func `The daemon refuses whatever may have the runtime of Go`(
        defines: [String],
        isBoth: Bool
    ) throws {
        let path = try Fixture.library("Checks/well-behaved", defines: defines)
        let image = try PluginImage.inspect(path: path)
        #expect(image.mayHaveGoRuntime && image.hasGoRuntime == isBoth)
        #expect(throws: ImageError(path, .needsWorker)) {
            try image.requireLoadable(inDaemon: true)
        }
        #expect(try image.requireLoadable().id == "test.author")
    }
}
