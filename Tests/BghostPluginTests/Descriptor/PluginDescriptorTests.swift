// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import CBghost
import Glibc
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5))) struct PluginDescriptorTests {
    private static func note(_ fixture: String) -> PluginNote {
        PluginNote(abiMajor: 1, abiMinor: 0, id: "test." + fixture)
    }

    private static func read(
        _ fixture: String,
        defines: [String] = []
    ) throws -> PluginDescriptor {
        let table = try EntryTable(fixture, defines: defines)
        return try PluginDescriptor.read(table.pointer, note: note(fixture))
    }

    @Test func `Copies good table`() throws {
        let plugin = try Self.read("good")
        #expect(plugin.id == "test.good")
        #expect(plugin.version == "1.0.0")
        #expect(plugin.vendor == "Fixtures")
        #expect(plugin.hostMinorMin == 0)
        #expect(plugin.open == nil && plugin.drain == nil && plugin.close == nil)
        let handler = try #require(plugin.handler(named: "succeed"))
        #expect(plugin.handlers.count == 1)
        #expect(handler.flags == [])
        #expect(handler.parametersSchema == "")
        #expect(handler.cancel == nil && handler.release == nil)
        #expect(handler.start(nil, nil) == BG_OK)
        #expect(plugin.handler(named: "absent") == nil)
    }

    @Test func `Copies every handler`() throws {
        let plugin = try Self.read("misbehave")
        #expect(plugin.handlers.count > 40)
        #expect(plugin.handler(named: "serial")?.flags == .serial)
        #expect(plugin.handler(named: "needs-worker")?.flags == .needsWorker)
        #expect(plugin.handler(named: "sleep-forever")?.flags == .mayBlock)
        #expect(plugin.handler(named: "honour-cancel")?.cancel != nil)
        #expect(plugin.handler(named: "state-and-release")?.release != nil)
    }

    /// A plugin of a later minor: longer tables, and flags that may be ignored.
    @Test func `Ignores what later minors append`() throws {
        let plugin = try Self.read("appended-fields")
        #expect(plugin.handlers.map(\.name) == ["succeed"])
        #expect(plugin.handlers.first?.flags == [])
    }

    @Test(arguments: ["0x10000u", "0x80000000u"]) func `Ignores upper flags`(bits: String) throws {
        #expect(try Self.read("unknown-flag", defines: ["FLAGS=" + bits]).id == "test.unknown-flag")
        #expect(try Self.read("unknown-task-flag", defines: ["FLAGS=" + bits]).handlers.count == 1)
    }

    @Test func `Schema may have lines`() throws {
        let plugin = try Self.read(
            "non-utf8-strings",
            defines: ["FIELD=task.params_schema", #"TEXT="{\n\t\"type\": \"object\"\r\n}""#]
        )
        #expect(plugin.handlers.first?.parametersSchema.contains("object") == true)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var fixture: String
        var defines: [String] = []
        var code: String
        var says: String

        var testDescription: String { ([fixture] + defines).joined(separator: " ") }
    }

    @Test(arguments: [
        Refusal(fixture: "null-descriptor", code: "cannot-run-here", says: "returned 0"),
        Refusal(fixture: "abi-major-2", code: "wrong-abi", says: "ABI major 2, this bghost offers"),
        Refusal(fixture: "minor-too-new", code: "host-too-old", says: "1.9 or later"),
        Refusal(
            fixture: "lying-note",
            code: "lying-note",
            says: #"its note says id=test.another, its table says "test.lying-note""#
        ),
        Refusal(fixture: "size-zero", code: "bad-size", says: "its table says that it has 0 bytes"),
        size("size-zero", "1"), size("size-zero", "88"), size("size-zero", "97"),
        Refusal(fixture: "size-huge", code: "bad-size", says: "4294967295 bytes"),
        size("size-huge", "65544"),
        Refusal(fixture: "task-size-zero", code: "bad-size", says: "handler 0 says that it has 0"),
        Refusal(
            fixture: "task-size-zero",
            defines: ["SIZE=0xfffffff8u"],
            code: "bad-size",
            says: "handler 0 says that it has 4294967288"
        ),
        Refusal(fixture: "zero-tasks", code: "handler-count", says: "claims 0 handlers"),
        Refusal(fixture: "two-to-the-32-tasks", code: "handler-count", says: "4294967295 handlers"),
        Refusal(
            fixture: "two-to-the-32-tasks",
            defines: ["N=257"],
            code: "handler-count",
            says: "257 handlers; 1 to 256"
        ),
        Refusal(fixture: "null-tasks", code: "unreadable-table", says: "its list of handlers"),
        Refusal(fixture: "null-task", code: "unreadable-table", says: "handler 0"),
        Refusal(fixture: "wild-tasks", code: "unreadable-table", says: "its list of handlers"),
        Refusal(
            fixture: "wild-tasks",
            defines: ["TASK"],
            code: "unreadable-table",
            says: "handler 0"
        ),
        Refusal(
            fixture: "wild-pointer",
            code: "unreadable-table",
            says: "its table lies in memory"
        ),
        wild("1"), wild("0xfffffffffffffff8"), wild("0x8000000000000000"),
        wild("0xffffffffff600000"),
        Refusal(fixture: "guard-page", code: "unreadable-table", says: "its table lies in memory"),
        guarded("4"), guarded("8"), guarded("95"),
        Refusal(
            fixture: "duplicate-handlers",
            code: "duplicate-handler",
            says: "named \"succeed\""
        ),
        Refusal(fixture: "unknown-flag", code: "unknown-flags", says: "flags 0x8000"),
        Refusal(fixture: "unknown-task-flag", code: "unknown-flags", says: "\"succeed\" sets the"),
        Refusal(
            fixture: "unknown-task-flag",
            defines: ["FLAGS=0xffffffffu"],
            code: "unknown-flags",
            says: "0xfff8"
        ),
        Refusal(fixture: "null-start", code: "no-start", says: "\"succeed\" has no start()"),
        Refusal(fixture: "start-is-data", code: "not-code", says: "start() of handler \"succeed\""),
    ])
    func `Bad descriptors are refused`(refusal: Refusal) throws {
        // The fixture for lying notes carries the note that it lies in.
        let note = Self.note(
            refusal.fixture == "lying-note" ? "another" : refusal.fixture
        )
        let table = try EntryTable(refusal.fixture, defines: refusal.defines)
        let error = #expect(throws: DescriptorError.self) {
            try PluginDescriptor.read(table.pointer, note: note)
        }
        #expect(error?.code == refusal.code)
        #expect(error?.description.hasPrefix("plugin \(note.id): ") == true)
        #expect(error?.description.contains(refusal.says) == true, "\(String(describing: error))")
    }

    static func size(_ fixture: String, _ size: String) -> Refusal {
        Refusal(
            fixture: fixture,
            defines: ["SIZE=" + size],
            code: "bad-size",
            says: "has \(size) bytes; at least 96"
        )
    }

    static func wild(_ address: String) -> Refusal {
        Refusal(
            fixture: "wild-pointer",
            defines: ["ADDRESS=" + address],
            code: "unreadable-table",
            says: "its table"
        )
    }

    static func guarded(_ bytes: String) -> Refusal {
        Refusal(
            fixture: "guard-page",
            defines: ["BYTES=" + bytes],
            code: "unreadable-table",
            says: "its table"
        )
    }

    /// A table that ends exactly where the memory ends is read, and not a byte more.
    @Test func `Reads up to guard page`() throws {
        #expect(
            try Self.read("guard-page", defines: ["BYTES=sizeof(bg_plugin)"]).version == "1.0.0"
        )
    }

    @Test func `Leaves no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            let good = try EntryTable("good").pointer
            let bad = try EntryTable("null-start").pointer
            let path = try Fixture.library("good")
            let note = PluginNote(abiMajor: 1, abiMinor: 0, id: "test.good")
            func openCount() throws -> Int { try File.list("/proc/self/fd").count }

            let before = try openCount()
            let extra = open("/dev/null", O_RDONLY)
            #expect(try openCount() == before + 1)
            close(extra)
            for _ in 0..<20 {
                _ = try PluginDescriptor.read(good, note: note)
                _ = try? PluginDescriptor.read(bad, note: note)
                _ = try PluginImage.inspect(path: path)
                _ = try? PluginImage.inspect(path: "/bin/sh")
            }
            #expect(try openCount() == before)
        }
    }

    @Test func `Says when it cannot look`() async {
        await #expect(processExitsWith: .success) {
            let pointer = try EntryTable("good").pointer
            let note = PluginNote(abiMajor: 1, abiMinor: 0, id: "test.good")
            try refuseOpens()
            do {
                _ = try PluginDescriptor.read(pointer, note: note)
                exit(1)
            } catch let error as DescriptorError where error.code == "cannot-check" {
                exit(0)
            }
        }
    }
}
