// SPDX-License-Identifier: Apache-2.0

/// A key of the manifest's section `host`; each raw value is its name.
///
/// A test compares the cases with the keys of the schema.
package enum HostKey: String, CaseIterable, Sendable {
    case stateDirectory
    case control
    case controlGroup
    case controlRole
    case slots
    case onChange
    case timeZone
    case facts
    case powerPolicy
    case require
    case dashboard
    case history
    case audit
    case log
    case alerts
    case heartbeat
    case traces
    case fleet

    /// Whether a reload may change it.
    ///
    /// The state directory and the socket are open, and the owner, the permissions and the role are
    /// those with which the socket was made; the dashboard's address is open too. Workers that are running have not tried the layers that a
    /// longer `require` names. A daemon is registered in the fleet with which it started.
    /// Whether it watches its manifest is decided when it starts.
    package var mayChange: Bool {
        switch self {
        case .slots, .timeZone, .facts, .powerPolicy, .history, .audit, .log, .alerts, .heartbeat,
            .traces:
            true
        case .stateDirectory, .control, .controlGroup, .controlRole, .require, .dashboard, .fleet,
            .onChange:
            false
        }
    }

    package func isSame(_ one: HostSettings, _ other: HostSettings) -> Bool {
        switch self {
        case .stateDirectory: one.stateDirectory == other.stateDirectory
        case .control: one.controlSocket == other.controlSocket
        case .controlGroup: one.controlGroup == other.controlGroup
        case .controlRole: one.controlRole == other.controlRole
        case .slots: one.slots == other.slots
        case .onChange: one.onChange == other.onChange
        case .timeZone: one.timeZone == other.timeZone
        case .facts: one.facts == other.facts
        case .powerPolicy: one.powerPolicy == other.powerPolicy
        case .require: one.require == other.require
        case .dashboard: one.dashboard == other.dashboard
        case .history: one.history == other.history
        case .audit: one.audit == other.audit
        case .log: one.log == other.log
        case .alerts: one.alerts == other.alerts
        case .heartbeat: one.heartbeat == other.heartbeat
        case .traces: one.traces == other.traces
        case .fleet: one.fleet == other.fleet
        }
    }

    /// Takes the value of this key from other settings.
    package func copy(from other: HostSettings, to settings: inout HostSettings) {
        switch self {
        case .stateDirectory: settings.stateDirectory = other.stateDirectory
        case .control: settings.controlSocket = other.controlSocket
        case .controlGroup: settings.controlGroup = other.controlGroup
        case .controlRole: settings.controlRole = other.controlRole
        case .slots: settings.slots = other.slots
        case .onChange: settings.onChange = other.onChange
        case .timeZone: settings.timeZone = other.timeZone
        case .facts: settings.facts = other.facts
        case .powerPolicy: settings.powerPolicy = other.powerPolicy
        case .require: settings.require = other.require
        case .dashboard: settings.dashboard = other.dashboard
        case .history: settings.history = other.history
        case .audit: settings.audit = other.audit
        case .log: settings.log = other.log
        case .alerts: settings.alerts = other.alerts
        case .heartbeat: settings.heartbeat = other.heartbeat
        case .traces: settings.traces = other.traces
        case .fleet: settings.fleet = other.fleet
        }
    }

    /// The value as short text; `nil` if the key has none, or if its value is no short text.
    package func text(of settings: HostSettings) -> String? {
        switch self {
        case .stateDirectory: settings.stateDirectory
        case .control: settings.controlSocket
        case .controlGroup: settings.controlGroup
        case .controlRole: settings.controlRole.rawValue
        case .powerPolicy: settings.powerPolicy.rawValue
        case .slots: settings.slots.map(String.init)
        case .onChange: settings.onChange.rawValue
        case .require:
            settings.require.isEmpty
                ? nil : settings.require.map(\.rawValue).sorted().joined(separator: ", ")
        case .dashboard: settings.dashboard?.listen.description
        case .timeZone, .facts, .history, .audit, .log, .alerts, .heartbeat, .traces, .fleet: nil
        }
    }
}
