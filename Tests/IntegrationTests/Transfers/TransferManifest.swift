// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostConfiguration
import BghostHost
import BghostModel
import BghostServices
import BghostTransferRules
import BghostStore
import BghostTestSupport
import Testing

/// A plugin that uses transfers, for one server.
enum TransferManifest {
    static let sessions = ["s", "crashing", "failing", "renewing", "keeping"]

    static func of(
        _ server: FileServer,
        isolation: Isolation = .worker,
        grants: [NetworkGrant]? = nil,
        adjust: (inout SessionDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        var manifest = Manifest(
            plugins: [
                PluginDefinition(
                    name: "t",
                    library: try Fixture.library("transfer"),
                    isolation: isolation,
                    permissions: Permissions(
                        network: grants ?? [NetworkGrant(host: "127.0.0.1", port: server.port)]
                    ),
                    maxPending: PendingLimits(refresh: 100)
                )
            ],
            sessions: sessions.map { name in
                var session = SessionDefinition(name: name, plugin: "t", handler: "wake")
                adjust(&session)
                return session
            }
        )
        manifest.host.slots = 4
        for handler in [
            "begin", "await", "wait", "cancel", "acknowledge", "list", "keep", "claim",
        ] {
            manifest.tasks.append(
                try TestManifest.task(
                    handler,
                    "t",
                    handler,
                    RunLimits(runtime: .seconds(600), grace: .seconds(60)),
                    overlap: .allow
                )
            )
        }
        return manifest
    }

    /// Parameters of a transfer of the server's file.
    static func parameters(
        _ server: FileServer,
        session: String = "s",
        _ more: [(String, String)] = []
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            if !more.contains(where: { $0.0 == "url" }) { writer.member("url", server.url) }
            writer.member("session", session)
            for (key, value) in more { writer.member(key, value) }
        }
        return writer.text
    }
}

extension RunningHost {
    /// What follows a word in a line of the plugin's.
    func said(
        _ word: String,
        _ filter: LogFilter = LogFilter()
    ) async throws -> String {
        let prefix = word + " "
        let line = try await line(filter) { $0.source == .handler && $0.message.hasPrefix(prefix) }
        return String(line.message.dropFirst(prefix.count))
    }

    /// The same, read as JSON.
    func told(_ word: String, _ filter: LogFilter = LogFilter()) async throws -> JSONNode {
        try JSONReader.parse(try await said(word, filter))
    }

    /// How often something has been logged.
    func count(_ filter: LogFilter = LogFilter(), where isWanted: (LogEntry) -> Bool) -> Int {
        log.entries(matching: filter, limit: 8192).count(where: isWanted)
    }

    /// The plugin's own folder.
    var transferFolder: String { folder.file("state/data/t") }
}

/// Has a host keep all that it is given, as a daemon does.
func fullyDurable(_ configuration: inout HostConfiguration) {
    durable(&configuration)
    configuration.openTransfers = { directory throws(TransferJournalError) in
        try SQLiteTransferJournal(path: directory + "/transfers.sqlite")
    }
}

/// Runs a test with a server of one file, and hangs up whatever the test does.
func withFile(
    _ count: Int = 256 << 10,
    holdAt: Int? = nil,
    _ body: (FileServer) async throws -> Void
) async throws {
    var generator = SeededGenerator(seed: 7)
    let server = try FileServer(
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) },
        holdAt: holdAt
    )
    defer { server.close() }
    try await body(server)
}
