// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostTestSupport
import Testing

/// The calls and commands about the hosts of the fleet.
@Suite(.ownThreads) struct FleetRouteTests {
    private func command(_ arguments: [String], _ serving: Serving) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    @Test func `The hosts arrive whole and are listed`() async throws {
        try await Serving.with(MemoryHost()) { serving in
            #expect(try await serving.ask { try await $0.fleet().value } == APISamples.fleet)
            let shown = try await command(["fleet"], serving)
            #expect(shown.exitCode == 0)
            for part in [
                "this host is web-17; its lease is valid for 12", "HOST", "STATE", "CLOCK",
                "web-17  live   27", "+3 ms", "web-18  gone   ended",
            ] {
                #expect(shown.output.contains(part), "\(part): \(shown.output)")
            }
            #expect(try await command(["fleet", "hosts"], serving).output == shown.output)
            #expect(try await command(["status", "--fleet"], serving).output == shown.output)
            let json = try await command(["fleet", "hosts", "--json"], serving)
            let hosts = try JSONReader.parse(json.output)["hosts"]?.array ?? []
            #expect(hosts.map { $0["state"]?.string } == ["live", "gone"])
            #expect(hosts[0]["clockOffset"]?.text == "3" && hosts[1]["clockOffset"]?.isNull == true)
            #expect(hosts[0]["drainedAt"]?.isNull == true)
        }
    }

    @Test func `A host is drained and undrained by its name`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            let drained = try await command(["fleet", "drain", "web-17", "--wait"], serving)
            #expect(
                drained.output == "drained web-17; it has no start of the fleet\n",
                "\(drained)"
            )
            #expect(await host.members.hosts[0].drainedAt != nil)
            let again = try await command(["fleet", "drain", "web-17", "--json"], serving)
            let answer = try JSONReader.parse(again.output)
            #expect(answer["schema"]?.string == "bghost.fleet.drain/1")
            #expect(answer["changed"]?.bool == false)
            #expect(answer["host"]?["state"]?.string == "drained")
            let ended = try await command(["fleet", "undrain", "web-17"], serving)
            #expect(ended.output.hasPrefix("web-17 claims starts of the fleet again"), "\(ended)")
            #expect(await host.members.hosts[0].drainedAt == nil)
            let none = try await command(["fleet", "undrain", "web-17"], serving)
            #expect(none.output == "web-17 is not drained\n" && none.exitCode == 0)
        }
    }

    @Test func `A host that is not there is refused with the nearest name`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            for verb in ["drain", "undrain"] {
                let refused = try await command(["fleet", verb, "wbe-17"], serving)
                #expect(refused.exitCode == 4, "\(refused)")
                #expect(refused.error.contains("BG4054") && refused.error.contains("`web-17`"))
            }
            #expect(await host.members == APISamples.fleet)
        }
    }

    @Test func `The doctor names the problems first and exits 5`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            let sick = try await command(["fleet", "doctor"], serving)
            #expect(sick.exitCode == 5, "\(sick)")
            for part in [
                "1 problem in the fleet", "gone: web-18 has died or lost its way",
                "alone: only web-17 serves starts", "bghost fleet drain web-18",
            ] {
                #expect(sick.output.contains(part), "\(part): \(sick.output)")
            }
            let json = try await command(["fleet", "doctor", "--json"], serving)
            #expect(json.exitCode == 5)
            let findings = try JSONReader.parse(json.output)["findings"]?.array ?? []
            #expect(findings.map { $0["kind"]?.string } == ["gone", "alone"])
            #expect(findings.map { $0["isProblem"]?.bool } == [true, false])
            await host.setMembers {
                $0.hosts.removeLast()
                $0.findings = $0.diagnosis
            }
            let well = try await command(["fleet", "doctor"], serving)
            #expect(well.exitCode == 0 && well.output.contains("no problem"), "\(well)")
            await host.setMembers { $0 = FleetStatus() }
            let outside = try await command(["fleet", "doctor"], serving)
            #expect(outside.exitCode == 0 && outside.output.contains("in no fleet"), "\(outside)")
            await host.setMembers { $0 = FleetStatus(name: "web-17", problem: "no server") }
            let away = try await command(["fleet", "hosts"], serving)
            #expect(away.exitCode == 5 && away.output.contains("no server"), "\(away)")
        }
    }

    @Test func `A daemon of an earlier version is understood`() throws {
        let text =
            #"{"name":"a","version":"0.1.0","leaseLeft":-1,"seenAt":"2026-11-21T16:31:04.250Z"}"#
        let host = try APICoder.value(API.FleetHost.self, from: Array(text.utf8)).host
        #expect(host.state == .gone && host.drainedAt == nil && host.clock == nil)
        #expect(host.tasks.isEmpty && host.lease == 0)
    }
}

extension MemoryHost {
    func setMembers(_ change: (inout FleetStatus) -> Void) { change(&members) }
}
