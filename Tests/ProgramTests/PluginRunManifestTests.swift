// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// `bghost plugin run` with what a manifest declares for the plugin.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct PluginRunManifestTests {
    private let folder: TemporaryDirectory
    private let server: FileServer

    init() throws {
        folder = try TemporaryDirectory()
        server = try FileServer(Array(repeating: 1, count: 1000))
        let library = try Fixture.library("transfer")
        _ = try Command.run(["cp", library, folder.file("libtransfer.so")])
    }

    private func declare(_ library: String = "./libtransfer.so") throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"mine": {"library": "\(library)",
                                  "permissions": {"network": ["\(server.grant)"]}}},
             "sessions": {"s": {"plugin": "mine", "handler": "wake"}},
             "tasks": {"await": {"plugin": "mine"}}}
            """,
            to: "tasks.dev.json"
        )
    }

    private func run(_ arguments: [String]) throws -> Command.Result {
        defer { server.close() }
        return try Command.run(
            [Artifact.path("bghost"), "plugin", "run"] + arguments
                + ["--parameters", #"{"url":"\#(server.url)","session":"s"}"#]
        )
    }

    @Test func `A folder's own manifest permits its network and sessions`() throws {
        _ = try declare()
        let ran = try run([folder.path, "await"])
        #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
        let path = folder.file("tasks.dev.json")
        #expect(
            ran.error.contains("permitted by \(path): network; sessions s\n"),
            "\(ran.error)"
        )
        #expect(server.seen.count == 1)
    }

    @Test func `A manifest may be named for a library`() throws {
        let manifest = try declare()
        let ran = try run([folder.file("libtransfer.so"), "await", "--manifest", manifest])
        #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
        #expect(server.seen.count == 1)
    }

    @Test func `A library alone has none of it`() throws {
        _ = try declare()
        let ran = try run([folder.file("libtransfer.so"), "await"])
        #expect(ran.exitCode == 1)
        #expect(ran.error.contains("has no session `s`"), "\(ran.error)")
        #expect(server.seen.isEmpty)
    }

    @Test func `A manifest without the plugin is refused`() throws {
        _ = try declare("./libother.so")
        let refused = try run([folder.path, "await"])
        #expect(refused.exitCode == 64)
        #expect(
            refused.error.contains("has no plugin whose `library` is libtransfer.so"),
            "\(refused.error)"
        )
    }

    @Test func `A wrong manifest is refused with its place`() throws {
        let manifest = try folder.write(#"{"version": 1, "plugin": {}}"#, to: "tasks.dev.json")
        let refused = try run([folder.path, "await"])
        #expect(refused.exitCode == 78)
        #expect(refused.error.contains("\(manifest):1:"), "\(refused.error)")
        let missing = try run([folder.path, "await", "--manifest", "nowhere.json"])
        #expect(missing.exitCode == 66, "\(missing.error)")
    }
}
