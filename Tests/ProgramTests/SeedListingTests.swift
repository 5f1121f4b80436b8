// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// Every listing of the articles, its text unchanged, in a worker of the real daemon.
@Suite(.ownThreads, .timeLimit(.minutes(12))) struct SeedListingTests {
    /// An app, and what is seen of it from outside.
    struct Listing: Sendable, CustomTestStringConvertible {
        var app: String
        /// Tasks by identifier, with their handlers where those are called otherwise.
        var tasks: [String: String?]
        var session: (id: String, handler: String)?
        /// Requirements of tasks.
        var requires: [String: String] = [:]
        /// Tasks that are of the kind `processing`.
        var processing: Set<String> = []
        /// What the machine offers, where it matters.
        var facts: [String] = []
        /// What is triggered, in order; each must succeed.
        var triggers: [String]
        /// Lines that the daemon's log must have, in any order.
        var log: [String] = []
        /// Results of triggered runs.
        var results: [String: String] = [:]
        /// Tasks with a pending request at the end.
        var pending: [String] = []
        /// Notifications that were posted.
        var notifications: [String] = []
        /// What the server answers.
        var answer = "storm at four"
        /// How often it is asked.
        var requests = 0

        var testDescription: String { app }
    }

    private static let noon = "StormyNoon"
    private static let refresh = "com.test.test.appRefreshTest"
    private static let fetched = "com.test.test.fetchRemoteData"

    static let listings: [Listing] = [
        Listing(
            app: "Seed001Schedule",
            tasks: ["start": nil, noon: nil],
            triggers: ["start"],
            pending: [noon]
        ),
        Listing(
            app: "Seed001Refresh",
            tasks: [noon: nil],
            triggers: [noon],
            log: ["called scheduleAppRefresh", "called isStormy", "called notifyForPhoto"]
        ),
        Listing(
            app: "Seed001Notify",
            tasks: [noon: nil],
            triggers: [noon],
            notifications: ["photo"]
        ),
        Listing(
            app: "Seed001Shared",
            tasks: [noon: nil],
            triggers: [noon],
            log: ["called notifyForPhoto"],
            requests: 1
        ),
        Listing(
            app: "Seed001Background",
            tasks: [noon: nil],
            session: ("isStormy", "urlSession"),
            triggers: [noon],
            log: ["called storm"],
            requests: 1
        ),
        Listing(
            app: "Seed001Stormy",
            tasks: [noon: nil],
            session: ("isStormy", "urlSession.isStormy"),
            triggers: [noon],
            pending: [noon],
            notifications: ["photo"],
            requests: 1
        ),
        Listing(
            app: "Seed001Launch",
            tasks: [noon: nil, "wake": "urlSession.isStormy"],
            triggers: [noon, "wake"]
        ),
        Listing(
            app: "Seed002App",
            tasks: [refresh: nil],
            triggers: [refresh],
            log: ["called scheduleTestNotification", "called startRequestingRemoteData"]
        ),
        Listing(
            app: "Seed002Optional",
            tasks: [refresh: nil, "com.test.test.registered": nil],
            triggers: [refresh, "com.test.test.registered"],
            log: ["called available", "called registered"]
        ),
        Listing(
            app: "Seed002Requests",
            tasks: [
                refresh: nil, "status": nil, "schedule": nil, "list": nil, "print": nil,
                "cancel": nil, "again": "schedule", "cancelAll": nil, "last": "schedule",
            ],
            triggers: [
                "status", "schedule", "list", "print", "cancel", "again", "cancelAll", "last",
            ],
            results: ["status": "true", "list": #"["\#(refresh)"]"#],
            pending: [refresh]
        ),
        Listing(
            app: "Seed002Download",
            tasks: [refresh: nil],
            session: (fetched, "urlSession.\(fetched)"),
            triggers: [refresh],
            log: ["urlSession.\(fetched) succeeded", "printed storm at four"],
            notifications: ["test"],
            requests: 1
        ),
        Listing(
            app: "Seed002Legacy",
            tasks: ["begin": nil],
            session: ("legacy", "urlSession"),
            triggers: ["begin"],
            log: ["called woken by legacy"],
            requests: 1
        ),
        Listing(
            app: "Seed003Phase",
            // A request that asks for no time waits for what does not come.
            tasks: ["start": "launch", "myapprefresh": "launch"],
            requires: ["myapprefresh": #""network": true"#],
            facts: ["network=off"],
            triggers: ["start"],
            pending: ["myapprefresh"]
        ),
        Listing(
            app: "Seed003Refresh",
            tasks: ["myapprefresh": nil],
            triggers: ["myapprefresh"],
            log: ["called a,b"],
            answer: #"[{"name":"a"},{"name":"b"}]"#,
            requests: 1
        ),
        Listing(
            app: "Seed003Session",
            tasks: ["start": "launch", "myapprefresh": nil],
            session: ("myurlsession", "urlSession.myurlsession"),
            triggers: ["start", "myapprefresh"],
            log: ["called scheduleAppRefresh", "called notifyUser"],
            requests: 1
        ),
        Listing(
            app: "Seed004Refresh",
            tasks: ["pl.snowdog.example.refresh": nil],
            triggers: ["pl.snowdog.example.refresh"],
            pending: ["pl.snowdog.example.refresh"]
        ),
        Listing(
            app: "Seed004Training",
            tasks: ["start": "launch", "pl.snowdog.example.train": nil],
            // Its request brings what it requires.
            processing: ["pl.snowdog.example.train"],
            facts: ["network=on", "externalPower=on"],
            triggers: ["start"],
            log: ["called pl.snowdog.example.train"]
        ),
    ]

    @Test func `Each listing has a test case`() throws {
        let seeds = try File.list(PackageRoot.path + "/Tests/Seeds")
        #expect(Self.listings.map(\.app).sorted() == seeds.sorted())
        #expect(seeds.count == 17)
    }

    @Test(arguments: listings) func `A listing runs in a worker`(_ listing: Listing) throws {
        let folder = try TemporaryDirectory()
        let server = try FileServer(Array(listing.answer.utf8))
        defer { server.close() }
        let daemon = try TestDaemon(
            manifest: try manifest(listing, server, folder),
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        for fact in listing.facts {
            let answer = try daemon.command(["simulate", "fact", fact])
            try #require(answer.exitCode == 0, "\(answer.error)")
        }
        for task in listing.triggers {
            let run = try daemon.command(["trigger", task, "--wait", "--json"])
            #expect(run.exitCode == 0, "\(task): \(run.output)\(run.error)")
            guard let wanted = listing.results[task] else { continue }
            let result = try JSONReader.parse(run.output)["run"]?["result"]
            #expect(result == (try JSONReader.parse(wanted)), "\(run.output)")
        }
        for text in listing.log {
            #expect(daemon.program.line(containing: text) != nil, "nothing says: \(text)")
        }
        let pending = try json(daemon, "pending")["requests"]?.array?
            .compactMap { $0["task"]?.string }.filter { !$0.hasPrefix("tell.") }
        #expect(pending == listing.pending)
        let outbox = try json(daemon, "notify", "outbox")["notifications"]?.array
        #expect(outbox?.compactMap { $0["id"]?.string } == listing.notifications)
        #expect(server.seen.count == listing.requests)
        #expect(daemon.stop() == 0)
    }

    private func manifest(
        _ listing: Listing,
        _ server: FileServer,
        _ folder: TemporaryDirectory
    ) throws -> String {
        let tasks = listing.tasks.map { identifier, handler in
            """
            "\(identifier)": {"plugin": "app", "handler": "\(handler ?? identifier)",
                              "kind": "\(listing.processing.contains(identifier) ? "processing" : "refresh")",
                              "requires": {\(listing.requires[identifier] ?? "")}}
            """
        }
        let session = listing.session.map {
            #""\#($0.id)": {"plugin": "app", "handler": "\#($0.handler)"}"#
        }
        return try folder.write(
            """
            {"version": 1,
             "plugins": {"app": {"library": "\(try SeedLibrary.make(listing.app, in: folder))",
                                 "config": {"address": "\(server.url)"},
                                 "permissions": {"network": ["\(server.grant)"], "notify": true}},
                         "teller": {"library": "\(try Fixture.library("stormy-app"))"}},
             "sessions": {\(session ?? "")},
             "tasks": {\(tasks.joined(separator: ",\n")),
                       "tell.*": {"plugin": "teller", "handler": "deliver", "overlap": "allow"}},
             "notifications": {"task": "tell.*"}}
            """,
            to: "tasks.json"
        )
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        try #require(result.exitCode == 0, "\(result)")
        return try JSONReader.parse(result.output)
    }
}
