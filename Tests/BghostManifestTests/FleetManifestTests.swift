// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import Testing

/// The section `host.fleet`, and `runs` of tasks.
@Suite struct FleetManifestTests {
    private func read(
        _ fleet: String? = #"{ "connection": "host=db.example", "name": "web-1" }"#,
        task: String = #""calendar": "0 12 * * *", "runs": "onceInFleet""#
    ) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
        ManifestFixture.read(
            """
            { "version": 1, "host": { \(fleet.map { "\"fleet\": \($0)" } ?? "") },
              "plugins": { "p": { "library": "p.so" } },
              "tasks": { "t": { "plugin": "p", \(task) } } }
            """
        )
    }

    private func refusal(
        _ read: (manifest: Manifest?, diagnostics: [Diagnostic])
    ) throws -> (DiagnosticCode, String) {
        #expect(read.manifest == nil && read.diagnostics.count == 1, "\(read.diagnostics)")
        let diagnostic = try #require(read.diagnostics.first)
        return (diagnostic.code, diagnostic.message + " " + (diagnostic.help ?? ""))
    }

    @Test func `A fleet and a task that runs once in it are read`() throws {
        let manifest = try #require(read().manifest)
        #expect(
            manifest.host.fleet
                == FleetSettings(connection: "host=db.example", name: "web-1", lease: .seconds(30))
        )
        #expect(manifest.tasks.map(\.isOnceInFleet) == [true])
        let other = try #require(
            read(
                #"{ "connection": "x", "name": "b", "lease": "1m" }"#,
                task: #""runs": "onEachHost""#
            )
            .manifest
        )
        #expect(other.host.fleet?.lease == .seconds(60))
        #expect(other.tasks.map(\.isOnceInFleet) == [false])
    }

    @Test(arguments: [
        (#""runs": "onceInFleet""#, "has no schedule"),
        (#""every": "1h", "runs": "onceInFleet""#, "`every`"),
    ])
    func `Without a calendar a task cannot run once`(task: String, words: String) throws {
        let (code, text) = try refusal(read(task: task))
        #expect(code == .onceWithoutCalendar && text.contains(words), "\(text)")
    }

    @Test func `Without a fleet a task cannot run once in it`() throws {
        let (code, text) = try refusal(read(nil))
        #expect(code == .onceWithoutFleet && text.contains("the host is in no fleet"), "\(text)")
    }

    @Test func `A grace that outlives the lease is refused`() throws {
        let task =
            #""calendar": "@daily", "runs": "onceInFleet", "limits": { "grace": "11s" }"#
        let (code, text) = try refusal(read(task: task))
        #expect(code == .onceWithoutFleet)
        #expect(text.contains("11s") && text.contains("10s") && text.contains("33s"), "\(text)")
    }

    @Test func `A task whose requests live in the fleet is read`() throws {
        let manifest = try #require(read(task: #""runs": "inFleet""#).manifest)
        #expect(manifest.tasks.map(\.isInFleet) == [true])
        #expect(manifest.tasks.map(\.isOnceInFleet) == [false])
        #expect(try #require(read().manifest).tasks.map(\.isInFleet) == [false])
    }

    @Test(arguments: [
        (#""calendar": "@daily", "runs": "inFleet""#, "`calendar`"),
        (#""every": "1h", "runs": "inFleet""#, "`every`"),
        (#""onBoot": true, "runs": "inFleet""#, "`onBoot`"),
        (#""submitAtStart": { "ifAbsent": true }, "runs": "inFleet""#, "`submitAtStart`"),
        (#""learnsUse": true, "tolerance": "1h", "runs": "inFleet""#, "`learnsUse`"),
    ])
    func `What belongs to one host does not fit the fleet`(task: String, words: String) throws {
        let (code, text) = try refusal(read(task: task))
        #expect(code == .badInFleet && text.contains(words), "\(text)")
    }

    @Test func `Without a fleet no requests live in it`() throws {
        let (code, text) = try refusal(read(nil, task: #""runs": "inFleet""#))
        #expect(code == .badInFleet && text.contains("the host is in no fleet"), "\(text)")
    }

    @Test(arguments: [(true, false), (false, true)])
    func `No chain leads from or to the fleet`(first: Bool, second: Bool) throws {
        let runs = { $0 ? #", "runs": "inFleet""# : "" }
        let found = ManifestFixture.read(
            """
            { "version": 1, "host": { "fleet": { "connection": "x", "name": "a" } },
              "plugins": { "p": { "library": "p.so" } },
              "tasks": { "t": { "plugin": "p", "then": ["u"]\(runs(first)) },
                         "u": { "plugin": "p"\(runs(second)) } } }
            """
        )
        #expect(try refusal(found).0 == .badInFleet)
    }

    @Test func `A name that is no name is refused`() throws {
        let (code, text) = try refusal(read(#"{ "connection": "x", "name": "web 1" }"#))
        #expect(code == .badFleet && text.contains("web 1"), "\(text)")
    }

    @Test func `A lease that is too short is refused`() throws {
        let fleet = #"{ "connection": "x", "name": "a", "lease": "4s" }"#
        let (code, _) = try refusal(read(fleet, task: #""calendar": "@daily""#))
        #expect(code == .outOfRange)
    }

    private func read(secret: String, in url: String) -> [Diagnostic] {
        ManifestFixture.read(
            ManifestFixture.host(#""fleet": {"name": "a", "connection": "\#(url)"}"#),
            secrets: ["${env:A}": secret]
        ).diagnostics
    }

    @Test(arguments: ["Hush/hushed", "Hush@hushed", "Hu/sh?hu@shed", "/", "@"])
    func `A password that a URL does not set off is refused and not shown`(secret: String) {
        for url in [
            "postgresql://u:${env:A}@db/fleet?sslmode=require", "postgres://${env:A}@db/fleet",
        ] {
            let diagnostics = read(secret: secret, in: url)
            #expect(diagnostics.map(\.code) == [.badFleet])
            for diagnostic in diagnostics {
                let text = diagnostic.rendered(color: false)
                #expect(!text.lowercased().contains("hu") && text.contains("%2F"), "\(text)")
            }
        }
        #expect(read(secret: secret, in: "host=db password='${env:A}'").isEmpty)
    }

    @Test(arguments: ["Hush%2Fhushed", "a?b#c:d%40", ""])
    func `A password that a URL sets off is read`(secret: String) {
        #expect(read(secret: secret, in: "postgresql://u:${env:A}@db:5432,e/fleet?a=/b").isEmpty)
        #expect(read(secret: secret, in: "postgresql:///fleet?host=/run&password=${env:A}").isEmpty)
    }
}
