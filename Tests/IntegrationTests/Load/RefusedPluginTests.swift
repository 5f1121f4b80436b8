// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import Glibc
import Testing

/// A fixture that is refused, and what is said of it: where, what and why, and what to do.
struct BadPlugin: Sendable, CustomTestStringConvertible {
    var name: String
    var what: String
    var toDo: String
    var defines: [String] = []

    init(_ name: String, _ what: String, _ toDo: String, defines: [String] = []) {
        self.name = name
        self.what = what
        self.toDo = toDo
        self.defines = defines
    }

    var testDescription: String { ([name] + defines).joined(separator: " ") }

    /// Holds a message to name the place first, then what is wrong, and to end with what helps.
    func expect(_ message: String, at place: String) {
        #expect(message.hasPrefix("\(place): \(what)"), "\(message)")
        #expect(message.hasSuffix(toDo), "\(message)")
    }
}

extension Integration {
    /// Plugins that are refused: by their file before any of it runs, or by their table.
    @Suite struct RefusedPluginTests {
        /// A plugin that cannot be triggered, that is named with the reason, and that disturbs no
        /// other.
        private func expectRefused(
            _ library: String,
            folder: TemporaryDirectory? = nil,
            _ expect: (_ message: String) -> Void
        ) async throws {
            let manifest = try TestManifest.plugin("bad", library: library)
            try await withDaemon(manifest, folder: folder) { daemon in
                let error = await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "task"))
                }
                #expect(error?.code == .unavailable)
                expect(error?.message ?? "")
                let status = await daemon.host.status()
                let plugin = try #require(status.plugins.first { $0.name == "bad" })
                #expect(plugin.problem == error?.message)
                #expect(plugin.workers.isEmpty)
                let line = try await daemon.line { $0.event == "plugin.unusable" }
                #expect(line.plugin == "bad" && line.message == error?.message)
                // The daemon keeps the request, and why shows what it waits for.
                let waiting = try await daemon.host.submit(Submission(task: "task"))
                #expect(waiting.waitingFor == [error?.message])
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
            }
        }

        private static let note = #"BG_NOTE("abi=1.0;id=org.example.name;runtime=c")"#

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                BadPlugin(
                    "no-entry",
                    "exports no bghost_plugin_v1. Define the entry function",
                    #"with BG_EXPORT, and as extern "C" in C++"#
                ),
                BadPlugin("no-note", "has no bghost note", "from bghost.h to one of its sources"),
                BadPlugin(
                    "torn-note",
                    "has a damaged note in .note.bghost: its text has 4000",
                    note
                ),
                BadPlugin("two-notes", "has a damaged note in .note.bghost: ", note),
                BadPlugin("note-text", "has a damaged note in .note.bghost: ", note),
                BadPlugin(
                    "note-abi-2",
                    "is built for abi=2.0, this bghost offers 1.0",
                    "It needs a newer bghost"
                ),
                BadPlugin(
                    "entry-v2-only",
                    "exports no bghost_plugin_v1; it offers bghost_plugin_v2",
                    "it needs a newer bghost"
                ),
                BadPlugin(
                    "entry-is-data",
                    "exports bghost_plugin_v1 as data",
                    "must be a function that returns the table, so that it can be called"
                ),
            ]
        )
        func `A file that is no plugin is refused before any of it runs`(
            bad: BadPlugin
        ) async throws {
            let library = try Fixture.library(bad.name)
            try await expectRefused(library) { bad.expect($0, at: library) }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                BadPlugin("directory", "is a directory, not a file", "is one shared object (.so)"),
                BadPlugin("fifo", "is a FIFO, not a file", "is one shared object (.so)"),
                BadPlugin("empty", "is empty", "is a shared object (.so): copy or build it again"),
                BadPlugin(
                    "text",
                    #"is not an ELF file: it begins with "#,
                    "not its source, an archive or a script"
                ),
                BadPlugin("program", "is a program, not a shared object", "Link it with -shared"),
                BadPlugin("truncated", "is cut off: ", "Copy or build it again"),
                BadPlugin("machine", "is built for s390", "Get the build for this machine"),
                BadPlugin(
                    "big-endian",
                    "is big-endian; this host is little-endian. Build it for",
                    ""
                ),
                BadPlugin("link", "cannot be opened: Too many levels", "path and its permissions"),
            ]
        )
        func `A path that is no regular file is refused`(bad: BadPlugin) async throws {
            let folder = try TemporaryDirectory()
            let library = folder.file("plugin.so")
            var good = try File.read(try Fixture.library("good"))
            switch bad.name {
            case "directory": try #require(mkdir(library, 0o755) == 0)
            case "fifo": try #require(mkfifo(library, 0o600) == 0)
            case "empty": good = []
            case "text": good = Array("hello, world".utf8)
            case "program": good = try File.read("/bin/true")
            case "truncated": good.removeLast(good.count / 2)
            case "machine": good[18] = 22
            case "big-endian": good[5] = 2
            default: try #require(symlink(library, library) == 0)
            }
            if access(library, F_OK) != 0, errno == ENOENT { try File.write(good, to: library) }
            try await expectRefused("./plugin.so", folder: folder) { message in
                // A link into nowhere does not exist for those who open it.
                guard bad.name != "link" else {
                    #expect(message.contains("plugin.so` is not there; looked for "))
                    return
                }
                bad.expect(message, at: folder.path + "/./plugin.so")
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["libabsent.so", "lib/absent.so", "/no/absent.so"]
        )
        func `A plugin that is absent is named with the places that were looked at`(
            library: String
        ) async throws {
            let folder = try TemporaryDirectory()
            let place = library.hasPrefix("/") ? library : folder.file(library)
            try await expectRefused(library, folder: folder) { message in
                #expect(
                    message == "`\(library)` is not there; looked for \(place). Put it there,"
                        + " or correct `library`"
                )
            }
        }

        private static let memory = "Tables and texts must be static memory of the plugin"
        private static let size = "Set size to sizeof of the struct"
        private static let newer = "It needs a newer bghost"

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                BadPlugin(
                    "abi-major-2",
                    "its table is of ABI major 2, this bghost offers 1.0",
                    "Its note says otherwise: build it again against one header"
                ),
                BadPlugin("minor-too-new", "it needs a host of ABI 1.9 or later", newer),
                BadPlugin(
                    "lying-note",
                    "its note says id=test.another, its table says",
                    "Write the same id in both"
                ),
                BadPlugin(
                    "null-descriptor",
                    "its entry function returned 0, which says that it cannot run here",
                    "Look at its own documentation for what it needs"
                ),
                BadPlugin(
                    "null-start",
                    #"handler "succeed" has no start()"#,
                    "Set it: it begins a run"
                ),
                BadPlugin("null-task", "handler 0 lies in memory that cannot be read", memory),
                BadPlugin("null-tasks", "its list of handlers lies in memory that", memory),
                BadPlugin(
                    "null-strings",
                    "its vendor has 12 bytes at address 0",
                    "Write {0, 0} for an empty text"
                ),
                BadPlugin("wild-strings", "its vendor lies in memory that cannot be read", memory),
                BadPlugin("wild-tasks", "its list of handlers lies in memory that", memory),
                BadPlugin("wild-pointer", "its table lies in memory that cannot be read", memory),
                BadPlugin(
                    "oversized-strings",
                    "its vendor has 1048576 bytes",
                    "at most 256 are possible"
                ),
                BadPlugin("non-utf8-strings", "its vendor is not UTF-8: ", "Write it in UTF-8"),
                BadPlugin("size-zero", "its table says that it has 0 bytes", size),
                BadPlugin("size-huge", "its table says that it has 4294967295 bytes", size),
                BadPlugin("task-size-zero", "handler 0 says that it has 0 bytes", size),
                BadPlugin(
                    "start-is-data",
                    #"start() of handler "succeed" points at memory that is no code"#,
                    "Set it to a function of the plugin"
                ),
                BadPlugin(
                    "two-to-the-32-tasks",
                    "it claims 4294967295 handlers; 1 to 256 are possible",
                    "Set n_tasks to the number of its tasks"
                ),
                BadPlugin(
                    "zero-tasks",
                    "it claims 0 handlers; 1 to 256 are possible",
                    "Set n_tasks to the number of its tasks"
                ),
                BadPlugin(
                    "duplicate-handlers",
                    #"it has two handlers named "succeed""#,
                    "A task could mean either: rename one"
                ),
                BadPlugin("unknown-flag", "its table sets the flags 0x8000", newer),
                BadPlugin(
                    "unknown-task-flag",
                    #"handler "succeed" sets the flags 0x4000"#,
                    newer
                ),
                BadPlugin("guard-page", "its table lies in memory that cannot be read", memory),
                BadPlugin("fail-in-open", "open() answered -1234", "the plugin's log says why"),
            ]
        )
        func `A plugin whose table is wrong is refused by its worker`(
            bad: BadPlugin
        ) async throws {
            let library = try Fixture.library(bad.name, defines: bad.defines)
            try await withDaemon(try TestManifest.plugin("bad", library: library)) { daemon in
                let record = try await daemon.runBesideOthers("task")
                #expect(record.outcome == .failed)
                #expect(record.startedAt == nil)
                let id = "test.\(bad.name == "lying-note" ? "another" : bad.name)"
                bad.expect(record.message, at: "\(library): plugin \(id)")
                let line = try await daemon.line { $0.event == "plugin.load_failed" }
                #expect(line.plugin == "bad" && line.message == record.message)
                let said = daemon.log.entries(matching: LogFilter(plugin: "bad"), limit: 8192)
                #expect(!said.contains { $0.message.contains("close() came") })
            }
        }
    }
}
