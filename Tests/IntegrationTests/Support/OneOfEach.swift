// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostCalendar
import BghostConfiguration
import BghostDispatch
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostNotify
import BghostPolicy
import BghostServices
import BghostTestSupport
import BghostTransferBridge
import Synchronization
import Testing

/// What a daemon may have besides requests and runs: transfers, notifications, a pause, an alert, a checkpoint and
/// a fleet.
///
/// Nothing of it has a date within the next hour, so that only a question could change it.
struct OneOfEach {
    /// A transfer that waits for its date.
    let transfer: TransferView
    /// The run in progress whose request has a checkpoint.
    let saver: RunRecord

    /// Adds the plugins and tasks that ``begin(in:)`` needs; they need two slots.
    static func define(in manifest: inout Manifest) throws {
        let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(200))
        manifest.plugins += [
            PluginDefinition(
                name: "t",
                library: try Fixture.library("transfer"),
                permissions: Permissions(network: [NetworkGrant(host: "127.0.0.1", port: 9)])
            ),
            PluginDefinition(
                name: "notify",
                library: try Fixture.library("notify"),
                permissions: Permissions(notify: true)
            ),
            PluginDefinition(name: "checkpoint", library: try Fixture.library("checkpoint")),
        ]
        manifest.sessions += ["s", "keeping"].map {
            SessionDefinition(name: $0, plugin: "t", handler: "wake", limits: limits)
        }
        manifest.notifications = NotificationSettings(task: try TestManifest.pattern("deliver"))
        var once = try TestManifest.task("once", "misbehave", "succeed", limits)
        once.isOnceInFleet = true
        // On the 29th of February.
        once.schedule = TaskSchedule(
            times: .calendar(
                try CalendarExpression("0 12 29 2 *"),
                zone: .utc,
                gap: .shift,
                fold: .first
            )
        )
        var doomed = try TestManifest.task("doomed", "misbehave", "fail-finally", limits)
        // Without one, a failed request is no dead letter.
        doomed.retry = RetryPolicy(kind: .processing)
        manifest.tasks += [
            try TestManifest.task("begin", "t", "begin", limits),
            try TestManifest.task("post", "notify", "post", limits),
            try TestManifest.task("deliver", "notify", "deliver", limits),
            try TestManifest.task("step", "checkpoint", "step", limits),
            try TestManifest.task("paused", "misbehave", "succeed", limits),
            doomed, once,
        ]
        var alerts = AlertSettings()
        alerts.digest = .milliseconds(1)
        manifest.host.alerts = alerts
        // Renewals are decisions; the next one is in four hours.
        manifest.host.fleet = FleetSettings(connection: "", name: "alone", lease: .seconds(86_400))
    }

    static func adjust(_ configuration: inout HostConfiguration) {
        configuration.fleetLink = { _ in LoneFleet() }
        // The workers of the runs that are over stay.
        configuration.timeouts.idle = 3_600_000_000_000
    }

    static func begin(in daemon: RunningHost) async throws -> OneOfEach {
        let host = daemon.host
        try await daemon.line { $0.event == "fleet.joined" }
        let later = WallClock.now / 1_000_000 + 3_600_000
        for session in ["s", "keeping"] {
            let parameters =
                #"{"url": "http://127.0.0.1:9/", "session": "\#(session)", "earliest": "\#(later)"}"#
            #expect(try await daemon.run("begin", parameters).outcome == .succeeded)
        }
        let transfers = await host.transfers()
        let transfer = try #require(transfers.first { $0.session == "s" })
        // The wake of this one keeps its end for the session.
        let ending = try #require(transfers.first { $0.session == "keeping" })
        _ = try await host.cancelTransfer(ending.id.description)
        try await daemon.line(LogFilter(task: "urlSession.keeping")) { $0.event == "run.ended" }
        await host.untilAcknowledged()

        for parameters in [
            #"{"id": "told", "title": "Told", "actions": [{"id": "x", "title": "X"}]}"#,
            #"{"id": "later", "title": "Later", "at": "\#(later)"}"#,
        ] {
            #expect(try await daemon.run("post", parameters).outcome == .succeeded)
        }
        try await daemon.line { $0.event == "notification.delivered" }
        try await daemon.line(LogFilter(task: "deliver")) { $0.event == "run.ended" }

        _ = try await host.pause(PauseOrder(target: .tasks("paused"), user: "uid 0"))
        _ = try await host.submit(Submission(task: "paused"))

        // Its dead letter is an alert; the worker of the failed run ends beside the others.
        let dead = try await host.submit(Submission(task: "doomed"))
        let failed = try #require(await host.waitForRun(ofRequest: dead.id))
        await host.untilGone(failed.pid, of: "misbehave")
        while await host.alerts().alerts.first?.toldAt == nil { await Task.yield() }

        let request = try await host.submit(
            Submission(task: "step", parameters: #"{"plan": "p"}"#)
        )
        let saver = try await daemon.begun(request)
        try await daemon.line(LogFilter(task: "step")) { $0.message.hasPrefix("attempt 1 loaded") }
        return OneOfEach(transfer: transfer, saver: saver)
    }

    /// What the answer of a route says of it.
    var answers: [String: String] {
        [
            "/v1/transfers": transfer.id.description,
            "/v1/notifications": "later",
            "/v1/pauses": "paused",
            "/v1/alerts": "doomed",
            "/v1/fleet": "alone",
            "/v1/runs/\(saver.id)": "checkpoint",
            "/v1/pending": "paused",
            "/v1/dead": "doomed",
            "/v1/checkpoints": saver.request.description,
        ]
    }
}

extension Host {
    /// Waits until the transfer engine has processed what runs acknowledged and kept.
    fileprivate func untilAcknowledged() async {
        while let table = owners.transfers.table,
            !table.acknowledging.isEmpty || !table.pendingMessages.isEmpty
        {
            await Task.yield()
        }
    }

    /// What the daemon knows of transfers, as text.
    func transferPicture() async -> [String] {
        var state = ""
        if let table = owners.transfers.table {
            dump(table.ends, to: &state)
            dump(table.limiters, to: &state)
            dump(table.runningWakes, to: &state)
            dump(table.claimed, to: &state)
            dump(table.acknowledging, to: &state)
        }
        dump(await transfers(), to: &state)
        return state.split(separator: "\n").map(String.init)
    }
}

/// A fleet without any other host.
private final class LoneFleet: FleetLink {
    func renew(tasks: String) throws(FleetProblem) -> FleetRenewal {
        FleetRenewal(sentAt: Monotonic.now + KernelClock.slept, open: [])
    }

    func claim(_ claims: [FleetClaim]) throws(FleetProblem) -> [FleetAnswer] {
        claims.map { _ in .claimed }
    }

    func release(_ claims: [FleetClaim], _ release: FleetRelease) throws(FleetProblem) {}

    func hosts() throws(FleetProblem) -> [FleetHost] {
        [FleetHost(name: "alone", version: "1", leaseLeft: 1, seenAt: 1, claims: 0)]
    }

    func setDrained(_ isDrained: Bool, host: String) throws(FleetProblem) -> Bool? { nil }

    func leave() {}
}
