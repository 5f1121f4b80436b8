// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostCalendar
package import BghostLinux
internal import BghostMetrics
package import BghostModel
package import BghostServices

/// The owners that tell others of trouble, and how they are connected.
///
/// The host owns it. Use it on the reactor's thread only.
package final class AlertOwners {
    package let monitor: AlertMonitor
    package let sender: AlertSender
    package let heartbeat: Heartbeat

    /// - Parameters:
    ///   - transport: sends messages and heartbeats; `nil` if the daemon sends none.
    ///   - zone: the zone of the host.
    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ clock: DaemonClock,
        _ deadlines: Deadlines,
        _ notifications: NotificationDelivery,
        reactor: Reactor,
        spawner: Spawner,
        transport: (any AlertTransport)?,
        log: HostLog,
        retries: AlertRetries = AlertRetries(),
        zone: @escaping () -> ZoneTable
    ) {
        let sender = AlertSender(
            transport,
            spawner: spawner,
            reactor: reactor,
            clock,
            log: log,
            host: HostName.read(),
            retries: retries
        )
        let monitor = AlertMonitor(
            dispatcher,
            commits,
            clock,
            deadlines,
            sender,
            log: log,
            zone: zone
        )
        self.sender = sender
        self.monitor = monitor
        let heartbeat = Heartbeat(
            transport,
            reactor: reactor,
            clock,
            deadlines,
            log: log,
            hasTrouble: { [unowned monitor] in monitor.hasTrouble },
            reasons: { [unowned monitor] in monitor.reasons }
        )
        self.heartbeat = heartbeat
        monitor.connect(notifications)
        monitor.onChange = { [unowned heartbeat] in heartbeat.stateChanged() }
    }

    /// Begins to watch; call it when the scheduler and the plugins have their state.
    package func begin(_ manifest: Manifest) {
        monitor.begin(manifest)
        heartbeat.apply(manifest.host.heartbeat)
    }

    /// Another manifest is in force.
    package func apply(_ manifest: Manifest) {
        monitor.apply(manifest)
        heartbeat.apply(manifest.host.heartbeat)
    }

    /// Sends nothing more, since the daemon ends: what was not told is told after the next start.
    package func stop() {
        monitor.stop()
        sender.stop()
        heartbeat.stop()
    }

    package func isLive(_ token: TimerToken, _ deadline: MonotonicInstant) -> Bool {
        token == .heartbeat ? heartbeat.isLive(deadline) : monitor.isLive(deadline)
    }

    package func deadlinePassed(_ token: TimerToken) {
        token == .heartbeat ? heartbeat.deadlinePassed() : monitor.deadlinePassed()
    }

    /// `nil` if the manifest asks for no alerts.
    var metrics: MetricsSnapshot.Alerts? {
        guard monitor.isActive else { return nil }
        let counts = sender.counts
        return MetricsSnapshot.Alerts(
            firing: monitor.firing,
            sent: counts.sent,
            failed: counts.failed,
            dropped: counts.dropped
        )
    }

    package var report: AlertReport { monitor.report(heartbeat: heartbeat.status) }
}
