// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
import BghostControl
import BghostDispatch
import BghostFleetSupport
@testable import BghostHost
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostTestSupport
import Testing

/// The calls and commands about the hosts of the fleet.
@Suite(.ownThreads) struct FleetRouteTests {
    private func command(_ arguments: [String], _ serving: Serving) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    /// A host of a fleet that shows these hosts.
    private func host(
        of fleet: ScriptedFleet,
        _ hosts: [FleetHost] = APISamples.fleet.hosts
    ) async throws -> TestHost {
        fleet.show(hosts)
        return try await .start {
            $0.host.fleet = FleetSettings(connection: "", name: "web-17", lease: .seconds(600))
        } configuration: {
            $0.fleetLink = { _ in fleet }
        }
    }

    @Test func `The hosts arrive whole and are listed`() async throws {
        try await Serving.with(try await host(of: ScriptedFleet(name: "web-17"))) { serving in
            try await serving.host.line("fleet.joined")
            let fleet = try await serving.ask { try await $0.fleet().value }
            #expect(fleet.name == "web-17" && fleet.hosts == APISamples.fleet.hosts)
            #expect(fleet.findings == APISamples.fleet.findings && fleet.validFor > 0)
            let shown = try await command(["fleet"], serving)
            #expect(shown.exitCode == 0)
            for part in [
                "this host is web-17; its lease is valid for ", "HOST", "STATE", "CLOCK",
                "web-17  live   27", "+3 ms", "web-18  gone   ended",
            ] {
                #expect(shown.output.contains(part), "\(part): \(shown.output)")
            }
            for words in [["fleet", "hosts"], ["status", "--fleet"]] {
                let again = try await command(words, serving).output
                // The first line has the time that is left.
                #expect(
                    again.split(separator: "\n").dropFirst()
                        == shown.output.split(separator: "\n").dropFirst()
                )
            }
            let json = try await command(["fleet", "hosts", "--json"], serving)
            let hosts = try JSONReader.parse(json.output)["hosts"]?.array ?? []
            #expect(hosts.map { $0["state"]?.string } == ["live", "gone"])
            #expect(hosts[0]["clockOffset"]?.text == "3" && hosts[1]["clockOffset"]?.isNull == true)
            #expect(hosts[0]["drainedAt"]?.isNull == true)
        }
    }

    @Test func `A host is drained and undrained by its name`() async throws {
        let fleet = ScriptedFleet(name: "web-17")
        var hosts = APISamples.fleet.hosts
        hosts[0].claims = 0
        try await Serving.with(try await host(of: fleet, hosts)) { serving in
            let drained = try await command(["fleet", "drain", "web-17", "--wait"], serving)
            #expect(
                drained.output == "drained web-17; it has no start and no partition of the fleet\n",
                "\(drained)"
            )
            #expect(try fleet.hosts()[0].drainedAt != nil)
            let again = try await command(["fleet", "drain", "web-17", "--json"], serving)
            let answer = try JSONReader.parse(again.output)
            #expect(answer["schema"]?.string == "bghost.fleet.drain/1")
            #expect(answer["changed"]?.bool == false)
            #expect(answer["host"]?["state"]?.string == "drained")
            let ended = try await command(["fleet", "undrain", "web-17"], serving)
            #expect(ended.output.hasPrefix("web-17 claims starts of the fleet again"), "\(ended)")
            #expect(try fleet.hosts()[0].drainedAt == nil)
            let none = try await command(["fleet", "undrain", "web-17"], serving)
            #expect(none.output == "web-17 is not drained\n" && none.exitCode == 0)
        }
    }

    @Test func `A host that is not there is refused with the nearest name`() async throws {
        let fleet = ScriptedFleet(name: "web-17")
        try await Serving.with(try await host(of: fleet)) { serving in
            for verb in ["drain", "undrain"] {
                let refused = try await command(["fleet", verb, "wbe-17"], serving)
                #expect(refused.exitCode == 4, "\(refused)")
                #expect(refused.error.contains("BG4054") && refused.error.contains("`web-17`"))
            }
            #expect(try fleet.hosts() == APISamples.fleet.hosts)
        }
    }

    @Test func `The doctor names the problems first and exits 5`() async throws {
        let fleet = ScriptedFleet(name: "web-17")
        try await Serving.with(try await host(of: fleet)) { serving in
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
            fleet.show([APISamples.fleet.hosts[0]])
            let well = try await command(["fleet", "doctor"], serving)
            #expect(well.exitCode == 0 && well.output.contains("no problem"), "\(well)")
            fleet.refuseHosts(FleetProblem(.unreachable, "no server"))
            let away = try await command(["fleet", "hosts"], serving)
            #expect(away.exitCode == 5 && away.output.contains("no server"), "\(away)")
        }
        try await Serving.with { serving in
            let outside = try await command(["fleet", "doctor"], serving)
            #expect(outside.exitCode == 0 && outside.output.contains("in no fleet"), "\(outside)")
        }
    }

    @Test func `Requests of all hosts are listed, in parts, and cancelled by their id`()
        async throws
    {
        let samples = FleetOfRequests.requests
        let partitions = SharedPartitions(try FleetOfRequests.made())
        let away = ScriptedFleet(
            name: "web-18",
            [.failure(FleetProblem(.unreachable, "no server"))]
        )
        // This host does not join, so it takes nothing of what the test asks for.
        let host = try await TestHost.start {
            $0.host.fleet = FleetSettings(connection: "", name: "web-18", lease: .seconds(600))
        } configuration: {
            $0.fleetLink = { _ in away }
            $0.partitions = { partitions }
        }
        try await Serving.with(host) { serving in
            let waiting = try await serving.ask {
                try await $0.fleetRequests(isDead: false).value
            }
            #expect(waiting.next == nil)
            let states = Dictionary(
                uniqueKeysWithValues: waiting.requests.map { ($0.request.task, $0) }
            )
            #expect(
                states.mapValues(\.state) == [
                    "mail.0": "pending", "mail.1": "running", "mail.2": "submitted",
                ]
            )
            #expect(states["mail.0"]?.owner == "web-17" && states["mail.0"]?.cancelled == false)
            #expect(
                states["mail.1"]?.cancelled == true && states["mail.1"]?.run == FleetSample.id(11)
            )
            #expect(states["mail.2"]?.owner == nil)
            let shown = try await command(["pending", "--fleet"], serving)
            #expect(shown.exitCode == 0)
            for part in ["STATE", "running, cancelled", "submitted", "none", "web-17", "mail.0"] {
                #expect(shown.output.contains(part), "\(part): \(shown.output)")
            }
            let dead = try await command(["dead", "--fleet"], serving)
            #expect(dead.output.contains("it failed 5 times") && dead.output.contains("mail.3"))
            #expect(!dead.output.contains("mail.0"))
            let some = try await command(["pending", "mail.1", "--fleet", "--json"], serving)
            let json = try JSONReader.parse(some.output)
            #expect(json["schema"]?.string == "bghost.fleet.requests/1")
            #expect(json["requests"]?.array?.count == 1 && json["next"]?.isNull == true)
            var found: [String] = []
            var next: String?
            repeat {
                let words =
                    ["pending", "--fleet", "--limit", "1"] + (next.map { ["--cursor", $0] } ?? [])
                let part = try JSONReader.parse(
                    try await command(words + ["--json"], serving).output
                )
                found +=
                    part["requests"]?.array?.compactMap { $0["request"]?["task"]?.string } ?? []
                next = part["next"]?.string
                if let next {
                    #expect(try await command(words, serving).output.contains(next))
                }
            } while next != nil && found.count < 10
            #expect(found == waiting.requests.map(\.request.task))
            let id = samples[0].id.description
            let cancelled = try await command(["cancel", "--fleet", id], serving)
            #expect(
                cancelled.output
                    == "request \(id) of mail.0 is cancelled; web-17 withdraws it within about a second if it has the task\n"
            )
            let again = samples[1].id.description
            let known = try await command(["cancel", "--fleet", again, "--json"], serving)
            #expect(try JSONReader.parse(known.output)["changed"]?.bool == false)
            let none = try await command(["cancel", "--fleet", "x"], serving)
            #expect(none.exitCode == 4 && none.error.contains("BG4016"), "\(none)")
            for wrong in [
                ["pending", "--fleet", "--tag", "a"], ["pending", "--fleet", "--limit", "1001"],
                ["dead", "--fleet", "--since", "1d"], ["cancel", "--fleet"],
                ["cancel", "--fleet", id, "--expect", "1"], ["cancel", "--fleet", "--all"],
            ] {
                let refused = try await command(wrong, serving)
                #expect(refused.exitCode == 64, "\(wrong): \(refused)")
            }
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
