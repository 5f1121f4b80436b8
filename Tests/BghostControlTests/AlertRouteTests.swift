// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostTestSupport
import Testing

/// The calls and commands about alerts.
@Suite struct AlertRouteTests {
    private func command(_ arguments: [String], _ serving: Serving) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    @Test func `What fires is shown with who was told`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            let nothing = try await command(["alerts"], serving)
            #expect(
                nothing.output == """
                    no alert fires
                    no message is sent: `host.alerts` names no receiver

                    """
            )
            await host.show(APISamples.alerts)
            #expect(try await serving.ask { try await $0.alerts().value } == APISamples.alerts)
            let text = try await command(["alerts"], serving).output
            for part in [
                "failures com.acme.storm (since ", "3 runs in a row failed; the last: no route",
                "webhook https://chat.example: takes no messages since", "1 message waiting",
                "heartbeat https://hc-ping.com: it answered 500", "muted: no message is sent until",
            ] {
                #expect(text.contains(part), "\(part): \(text)")
            }
            let json = try await command(["alerts", "--json"], serving)
            let node = try JSONReader.parse(json.output)
            #expect(node["schema"]?.string == "bghost.alerts/1", "\(json)")
        }
    }

    @Test func `A test exits with 1 if a receiver does not take it`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            await host.answerTests(
                .success([AlertTest("ntfy https://n.example", true, "it answered 200")])
            )
            let good = try await command(["alerts", "test"], serving)
            #expect(
                good.exitCode == 0
                    && good.output.contains("ntfy https://n.example: it answered 200")
            )
            await host.answerTests(
                .success([
                    APISamples.alertTest,
                    AlertTest("task tell.*", false, "it\u{1B}[2J was refused"),
                ])
            )
            let bad = try await command(["alerts", "test"], serving)
            #expect(bad.exitCode == 1 && !bad.output.contains("\u{1B}[2J"))
            await host.answerTests(
                .failure(OperatorRefusal(.noReceiver, "no receiver", fix: "add one"))
            )
            let none = try await command(["alerts", "test"], serving)
            #expect(none.exitCode == 78 && none.error.contains("BG4029"), "\(none)")
            #expect(await host.audited.map(\.verb).allSatisfy { $0 == "alerts test" })
        }
    }
}
