// SPDX-License-Identifier: Apache-2.0

import BghostAlerts
@testable import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Synchronization

/// The owners that tell of trouble: with a clock and receivers of the test, and without a process.
struct AlertOwnersFixture {
    static let start: Int64 = 1_790_000_000 * 1_000_000_000
    static let hook = AlertReceiver.webhook(url: "https://a.example/x", headers: [], secret: nil)

    let wall: AlertClock
    let clock: DaemonClock
    let transport: ScriptedTransport
    let store: ScriptedStore
    let log: HostLog
    let deadlines: Deadlines
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let alerts: AlertOwners
    let notifications: NotificationDelivery
    let dates: DateWatch
    let intake: RequestIntake

    /// - Parameter beats: gets the heartbeats.
    init(_ reactor: Reactor, _ manifest: Manifest, beats: HeartbeatScript? = nil) throws {
        let (wall, transport) = (AlertClock(Self.start), ScriptedTransport())
        let (store, log) = (ScriptedStore(), HostLog())
        (self.wall, self.transport, self.store, self.log) = (wall, transport, store, log)
        store.answerAtOnce(.success(()))
        let clock = DaemonClock(
            reactor,
            machineWall: { wall.now.withLock { $0 } },
            machineSlept: { wall.slept }
        )
        self.clock = clock
        deadlines = Deadlines(reactor)
        commits = CommitQueue(store, reactor: reactor, log: log, deadLettersMax: 10)
        dispatcher = Dispatcher(
            SampleManifest.settings(manifest),
            moment: { clock.moment },
            recorder: nil
        )
        intake = RequestIntake(dispatcher, commits)
        dates = DateWatch(clock, deadlines, dispatcher, log: log) { _ in nil }
        notifications = NotificationDelivery(
            nil,
            manifestPath: "tasks.json",
            dispatcher,
            commits,
            intake,
            dates,
            clock,
            log: log
        )
        var retries = AlertRetries()
        retries.delayMin = 1_000_000
        retries.delayMax = 2_000_000
        retries.attemptsMax = 5
        alerts = AlertOwners(
            dispatcher,
            commits,
            clock,
            deadlines,
            notifications,
            reactor: reactor,
            spawner: try Spawner(),
            transport: beats ?? transport,
            log: log,
            retries: retries
        ) { .utc }
        commits.begin(
            mayBlock: { false },
            onPressure: { _ in },
            onHealth: { [alerts] in alerts.monitor.storeChanged() }
        )
    }

    func setProblem(_ problem: String?) {
        dispatcher.decide { scheduler, now, effects in
            scheduler.plugin(0, hasProblem: problem, now: now, &effects)
        }
    }

    /// Gives the scheduler and the owners another manifest.
    func reload(_ manifest: Manifest) {
        dispatcher.decide { scheduler, now, effects in
            scheduler.reload(manifest, slots: 2, replacing: [], now: now, &effects)
        }
        alerts.apply(manifest)
    }

    /// Moves the clock, and lets the owner see that.
    func pass(_ seconds: Int64) {
        wall.move(seconds)
        alerts.deadlinePassed(.alerts)
    }

    func ended(_ outcome: Outcome, number: UInt64 = 1) {
        var record = RunRecord(
            id: RunID(high: 1, low: number),
            request: RunID(high: 2, low: number),
            task: "backup",
            plugin: "plugin",
            limits: RunLimits(kind: .refresh),
            submittedAt: Self.start
        )
        record.outcome = outcome
        record.message = outcome == .succeeded ? "" : "no route"
        commits.commit([.runEnded(record, then: .consumed)])
    }

    /// The titles that a receiver got.
    func titles(_ receiver: AlertReceiver) -> [String] {
        transport.sent.filter { $0.receiver == receiver }.map(\.delivery.text.title)
    }

    func events() -> [String] {
        log.entries(matching: LogFilter(), limit: 100).map(\.event)
    }

    static func manifest(
        _ receivers: [AlertReceiver] = [hook],
        mute: [String] = [],
        heartbeat: Bool = false,
        _ change: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        var manifest = SampleManifest.make { task in
            task.expect = TaskExpectation(failures: 2)
            change(&task)
        }
        var settings = AlertSettings()
        settings.receivers = receivers
        settings.digest = .seconds(10)
        settings.repeatPeriod = .seconds(3600)
        for window in mute { _ = settings.mute.add(try MuteWindow(window)) }
        manifest.host.alerts = settings
        if heartbeat { manifest.host.heartbeat = HeartbeatSettings(url: "https://c.example/z") }
        return manifest
    }

    func begin(_ manifest: Manifest) {
        alerts.begin(manifest)
        alerts.monitor.settle()
    }
}
