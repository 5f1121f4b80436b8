// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostControl
import BghostTestSupport
import Testing

/// `bghost reload`, from the client through the API and back, and as a command.
@Suite(.timeLimit(.minutes(5)))
struct ReloadRouteTests {
    @Test func `The reload report arrives with all fields`() async throws {
        let report = ReloadReport(
            tasks: ReloadReport.Names(added: ["a"], changed: ["b", "c"], removed: ["d"]),
            plugins: ReloadReport.Names(changed: ["p"]),
            host: ["slots"],
            parked: 3,
            unparked: 2
        )
        try await Serving.with { serving in
            await serving.host.answerReload(.success(report))
            let answer = try await serving.ask { try await $0.reload() }
            #expect(answer.value == report)
            let command = try await Bghost.run(["reload", "--control", serving.socketPath])
            #expect(command.exitCode == 0)
            #expect(
                command.output == """
                    tasks: 1 added, 2 changed, 1 removed; plugins: 1 changed; host: slots; \
                    requests parked: 3; requests that wait again: 2
                      + task a
                      ~ task b
                      ~ task c
                      - task d
                      ~ plugin p

                    """
            )
        }
    }

    @Test func `A dry run asks for one and names each key`() async throws {
        let report = ReloadReport(
            tasks: .init(added: ["new"], changed: ["a", "b"], removed: ["gone"]),
            plugins: .init(changed: ["p"]),
            host: ["slots"],
            parked: 1,
            changes: [
                .init(kind: "task", name: "a", key: "every", before: "30s", after: "45s"),
                .init(kind: "task", name: "a", key: "priority", before: "7"),
                .init(kind: "plugin", name: "p", reason: "its library \u{1B}[2J"),
                .init(kind: "host", name: "", key: "slots", after: "3"),
            ]
        )
        try await Serving.with { serving in
            await serving.host.answerReload(.success(report))
            let answer = try await serving.ask { try await $0.reload(dryRun: true) }
            var expected = report
            expected.dryRun = true
            #expect(answer.value == expected)
            let command = try await Bghost.run([
                "reload", "--dry-run", "--control", serving.socketPath,
            ])
            #expect(command.exitCode == 0)
            #expect(
                command.output == """
                    dry run, nothing was changed: tasks: 1 added, 2 changed, 1 removed; \
                    plugins: 1 changed; host: slots; requests parked: 1
                      ~ host: slots: not given → 3
                      + task new
                      ~ task a: every: 30s → 45s
                      ~ task a: priority: 7 → not given
                      ~ task b
                      - task gone
                      ~ plugin p: its library \\u{1B}[2J

                    """
            )
            let json = try await Bghost.run([
                "reload", "--dry-run", "--json", "--control", serving.socketPath,
            ])
            #expect(json.output.contains("\"bghost.reload/1\""))
            #expect(json.output.contains("\"dryRun\""))
        }
    }

    @Test func `A refusal says where and exits as a bad manifest does`() async throws {
        try await Serving.with { serving in
            for (code, name) in [
                (OperatorRefusal.Code.badManifest, "BG4030"), (.needsRestart, "BG4031"),
            ] {
                await serving.host.answerReload(
                    .failure(
                        OperatorRefusal(
                            code,
                            "it has 1 error",
                            fix: "mend it",
                            candidates: ["tasks.json:3:7: what \u{1B}[2J"]
                        )
                    )
                )
                let command = try await Bghost.run(["reload", "--control", serving.socketPath])
                #expect(command.exitCode == 78)
                #expect(command.error.contains("error[\(name)]: it has 1 error"))
                #expect(command.error.contains("tasks.json:3:7: what "))
                #expect(!command.error.contains("\u{1B}"))
            }
        }
    }
}
