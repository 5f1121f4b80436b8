// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostCalendar
import BghostConfiguration
import BghostControl
@testable import BghostHost
import BghostManifest
import BghostModel
import BghostPolicy
import BghostTestSupport
import Synchronization
import Testing

/// `bghost reload`, from the client through the API and back, and as a command.
@Suite(.timeLimit(.minutes(5)))
struct ReloadRouteTests {
    /// The file of a manifest, as the test writes it.
    private final class File: Sendable {
        private let text: Mutex<String>

        init(_ text: String) { self.text = Mutex(text) }

        func write(_ text: String) { self.text.withLock { $0 = text } }

        func read() -> RereadManifest {
            let reader = ManifestReader(
                manifestDirectory: "/etc/bghost",
                resolveSecret: { _ in .failure(SecretError("it is not set")) },
                zones: ZoneSource(find: { _ in .utc }, names: { ["UTC"] })
            )
            let bytes = Array(text.withLock(\.self).utf8)
            let file = ManifestFile(name: "tasks.json", bytes: bytes)
            let (manifest, diagnostics) = reader.read(file, dropIns: [])
            return RereadManifest(manifest: manifest, diagnostics: diagnostics)
        }
    }

    private static func manifest(host: String, _ tasks: [String: String]) throws -> String {
        let library = try TestHost.library.get()
        let fields = tasks.sorted { $0.key < $1.key }.map { name, fields in
            #""\#(name)": {"plugin": "storm", "handler": "handler"\#(fields)}"#
        }
        return """
            {"version": 1, "host": {\(host)}, "plugins": {"storm": {"library": "\(library)"}},
             "tasks": {\(fields.joined(separator: ", "))}}
            """
    }

    private static func before() throws -> String {
        try manifest(
            host: "",
            [
                "a": #", "every": "300s", "priority": 7"#, "b": #", "parameters": {"x": 1}"#,
                "gone": "",
            ]
        )
    }

    private static func after() throws -> String {
        try manifest(
            host: #""slots": 3"#,
            [
                "new": "", "a": #", "every": "450s""#,
                "b": #", "parameters": {"x": "\u001b[2J\u009b"}"#,
            ]
        )
    }

    /// Serves a host with the manifest of a file.
    private func serve(
        _ file: File,
        _ body: @escaping @Sendable (Serving) async throws -> Void
    ) async throws {
        let manifest = try #require(file.read().manifest)
        let host = try await TestHost.start(configuration: {
            $0.manifest = manifest
            $0.rereadManifest = { file.read() }
        })
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            try await body(serving)
        }
    }

    @Test func `The reload report arrives with all fields`() async throws {
        let file = File(try Self.before())
        try await serve(file) { serving in
            _ = try await serving.host.control.submit(Submission(task: "gone"))
            file.write(try Self.after())
            let answer = try await serving.ask { try await $0.reload() }
            #expect(
                answer.value.tasks == .init(added: ["new"], changed: ["a", "b"], removed: ["gone"])
            )
            #expect(answer.value.host == ["slots"] && answer.value.parked == 1)
            #expect(answer.value.changes.map(\.key).contains("priority"))
            #expect(await serving.host.control.status().slots == 3)
            file.write(try Self.before())
            let command = try await Bghost.run(["reload", "--control", serving.socketPath])
            #expect(command.exitCode == 0)
            #expect(
                command.output.hasPrefix(
                    "tasks: 1 added, 2 changed, 1 removed; host: slots; requests that wait again: 1\n"
                ),
                "\(command)"
            )
            for line in ["  + task gone\n", "  - task new\n"] {
                #expect(command.output.contains(line), "\(command)")
            }
        }
    }

    @Test func `A dry run asks for one and names each key`() async throws {
        let file = File(try Self.before())
        try await serve(file) { serving in
            file.write(try Self.after())
            let answer = try await serving.ask { try await $0.reload(dryRun: true) }
            #expect(answer.value == (try await serving.host.control.dryReload()))
            #expect(answer.value.dryRun && answer.value.tasks.added == ["new"])
            let command = try await Bghost.run([
                "reload", "--dry-run", "--control", serving.socketPath,
            ])
            #expect(command.exitCode == 0)
            #expect(
                command.output == """
                    dry run, nothing was changed: tasks: 1 added, 2 changed, 1 removed; host: slots
                      ~ host: slots: not given → 3
                      + task new
                      ~ task a: every: 300s → 450s
                      ~ task a: priority: 7 → not given
                      ~ task b: parameters.x: 1 → \\u{1B}[2J\\u{9B}
                      - task gone

                    """
            )
            #expect(!command.output.contains("\u{1B}"))
            let json = try await Bghost.run([
                "reload", "--dry-run", "--json", "--control", serving.socketPath,
            ])
            #expect(json.output.contains("\"bghost.reload/1\""))
            #expect(json.output.contains("\"dryRun\""))
            #expect(
                await serving.host.control.status().tasks.map(\.identifier) == ["a", "b", "gone"]
            )
        }
    }

    @Test func `Each part of a report has its line`() {
        let report = ReloadReport(
            tasks: .init(added: ["a"], changed: ["b", "c"], removed: ["d"]),
            plugins: .init(changed: ["p", "q"]),
            host: ["slots"],
            parked: 3,
            unparked: 2,
            changes: [
                .init(kind: "host", name: "", key: "slots", after: "3"),
                .init(kind: "plugin", name: "p", reason: "its library"),
            ]
        )
        #expect(
            report.summary
                == "tasks: 1 added, 2 changed, 1 removed; plugins: 2 changed; host: slots; "
                + "requests parked: 3; requests that wait again: 2"
        )
        #expect(
            report.lines == [
                "~ host: slots: not given → 3", "+ task a", "~ task b", "~ task c", "- task d",
                "~ plugin p: its library", "~ plugin q",
            ]
        )
    }

    @Test func `A refusal says where and exits as a bad manifest does`() async throws {
        let file = File(try Self.before())
        let wrong = try Self.before().replacing(#""x": 1"#, with: "\"x\": 1}, \"\\u001b[2J\": {")
        let moved = try Self.manifest(host: #""control": "unix:/run/other.sock""#, ["a": ""])
        try await serve(file) { serving in
            for (text, name, place) in [
                (wrong, "BG4030", "tasks.json:2:"), (moved, "BG4031", "control"),
            ] {
                file.write(text)
                let command = try await Bghost.run(["reload", "--control", serving.socketPath])
                #expect(command.exitCode == 78)
                #expect(command.error.contains("error[\(name)]: "), "\(command)")
                #expect(command.error.contains(place), "\(command)")
                #expect(!command.error.contains("\u{1B}"))
            }
        }
    }
}
