// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
import BghostControl
import BghostHost
import BghostModel
import BghostOwnerSupport
@testable import BghostTerminal
import BghostTestSupport
@testable import BghostViews
import Testing

/// The calls and commands about alerts.
@Suite struct AlertRouteTests {
    private func command(_ arguments: [String], _ serving: Serving) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    @Test func `What fires is shown with who was told`() async throws {
        try await Serving.with { serving in
            let nothing = try await command(["alerts"], serving)
            #expect(
                nothing.output == """
                    no alert fires
                    no message is sent: `host.alerts` names no receiver

                    """
            )
        }
        let host = try await TestHost.start(receivers: [
            .ntfy(url: "https://n.example/t", token: nil)
        ])
        try await Serving.with(host) { serving in
            await serving.host.quarantinePlugin("it crashed")
            let report = try await serving.ask { try await $0.alerts().value }
            let own = await serving.host.control.alerts()
            #expect(report.alerts.map(\.detail) == own.alerts.map(\.detail))
            #expect(report.receivers.map(\.name) == own.receivers.map(\.name))
            #expect(report.alerts.map(\.subject) == ["storm"])
            let text = try await command(["alerts"], serving).output
            for part in [" storm (since ", "it crashed", "ntfy https://n.example"] {
                #expect(text.contains(part), "\(part): \(text)")
            }
            let json = try await command(["alerts", "--json"], serving)
            let node = try JSONReader.parse(json.output)
            #expect(node["schema"]?.string == "bghost.alerts/1", "\(json)")
            #expect(node["alerts"]?.array?.count == 1)
        }
    }

    @Test func `Receivers that fail, the heartbeat and the mute are shown`() {
        let view = AlertsView(report: APISamples.alerts, now: 1_795_278_700_000_000_000)
        let text = view.text(Style(hasColor: false, hasUnicode: true))
        for part in [
            "failures com.acme.storm (since ", "3 runs in a row failed; the last: no route",
            "webhook https://chat.example: takes no messages since", "1 message waiting",
            "heartbeat https://hc-ping.com: it answered 500", "muted: no message is sent until",
        ] {
            #expect(text.contains(part), "\(part): \(text)")
        }
    }

    @Test func `A test exits with 1 if a receiver does not take it`() async throws {
        let receivers: [AlertReceiver] = [
            .ntfy(url: "https://n.example/t", token: nil), .command(arguments: ["tell"], to: nil),
        ]
        let transport = ScriptedTransport()
        let host = try await TestHost.start(receivers: receivers, transport)
        try await Serving.with(host) { serving in
            let good = try await command(["alerts", "test"], serving)
            #expect(
                good.exitCode == 0
                    && good.output.contains("ntfy https://n.example: it answered 200")
            )
            transport.fail([receivers[1]], with: "it\u{1B}[2J was refused")
            let bad = try await command(["alerts", "test"], serving)
            #expect(bad.exitCode == 1 && bad.output.contains("was refused"), "\(bad)")
            #expect(!bad.output.contains("\u{1B}[2J"))
            #expect(transport.sent.count == 4)
            #expect(host.audited.map(\.verb).allSatisfy { $0 == "alerts test" })
        }
        try await Serving.with { serving in
            let none = try await command(["alerts", "test"], serving)
            #expect(none.exitCode == 78 && none.error.contains("BG4029"), "\(none)")
        }
    }
}

extension TestHost {
    /// Starts a host with receivers of alerts.
    fileprivate static func start(
        receivers: [AlertReceiver],
        _ transport: ScriptedTransport = ScriptedTransport()
    ) async throws -> TestHost {
        var settings = AlertSettings()
        settings.receivers = receivers
        return try await start {
            $0.host.alerts = settings
        } configuration: {
            $0.alertTransport = transport
        }
    }
}
