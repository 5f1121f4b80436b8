// SPDX-License-Identifier: Apache-2.0

package import BghostCalendar

/// The section `host`.
package struct HostSettings: Equatable, Sendable {
    /// The absolute path of the state directory; `nil` lets the daemon choose.
    package var stateDirectory: String?
    /// The absolute path of the control socket; `nil` puts the socket into the state directory.
    package var controlSocket: String?
    /// The group whose members may use the control socket; `nil` permits no other users.
    package var controlGroup: String?
    /// The role of the group's members.
    package var controlRole: ControlRole
    /// The maximum number of concurrent runs; `nil` is the number of processors.
    package var slots: Int?
    /// What the daemon does when a file of the manifest changes.
    package var onChange: ManifestChange
    /// The time zone of calendars that do not name one.
    package var timeZone: ZoneTable
    /// Facts about the machine that the daemon cannot detect.
    package var facts: FactDefinitions
    /// Which tasks the daemon holds back on a low battery.
    package var powerPolicy: PowerPolicy
    /// The sandbox layers without which no worker may run.
    package var require: Set<SandboxLayer>
    /// The pages for browsers; `nil` serves none.
    package var dashboard: DashboardSettings?
    /// How much history is kept.
    package var history: HistorySettings
    /// How what others do to the daemon is noted.
    package var audit: AuditSettings
    /// How the log is written.
    package var log: LogSettings
    /// Whom the daemon tells of trouble; `nil` sends no alerts.
    package var alerts: AlertSettings?
    /// Where the daemon reports that it lives; `nil` for nowhere.
    package var heartbeat: HeartbeatSettings?
    /// Where the daemon sends traces; `nil` for nowhere.
    package var traces: TraceSettings?
    /// The fleet of which the host is a member; `nil` for none.
    package var fleet: FleetSettings?

    package init(
        stateDirectory: String? = nil,
        controlSocket: String? = nil,
        controlGroup: String? = nil,
        controlRole: ControlRole = .read,
        slots: Int? = nil,
        onChange: ManifestChange = .ask,
        timeZone: ZoneTable = .utc,
        facts: FactDefinitions = FactDefinitions(),
        powerPolicy: PowerPolicy = .none,
        require: Set<SandboxLayer> = [],
        dashboard: DashboardSettings? = nil,
        history: HistorySettings = HistorySettings(),
        audit: AuditSettings = AuditSettings(),
        log: LogSettings = LogSettings(),
        alerts: AlertSettings? = nil,
        heartbeat: HeartbeatSettings? = nil,
        traces: TraceSettings? = nil,
        fleet: FleetSettings? = nil
    ) {
        self.stateDirectory = stateDirectory
        self.controlSocket = controlSocket
        self.controlGroup = controlGroup
        self.controlRole = controlRole
        self.slots = slots
        self.onChange = onChange
        self.timeZone = timeZone
        self.facts = facts
        self.powerPolicy = powerPolicy
        self.require = require
        self.dashboard = dashboard
        self.history = history
        self.audit = audit
        self.log = log
        self.alerts = alerts
        self.heartbeat = heartbeat
        self.traces = traces
        self.fleet = fleet
    }
}

/// How the daemon handles a changed file of its manifest: `tasks.json` or a drop-in.
package enum ManifestChange: String, Equatable, Sendable, CaseIterable {
    /// The daemon takes it up, as `bghost reload` does.
    case reload
    /// The daemon goes on with the manifest that it has until the operator reloads it.
    case ask
}
