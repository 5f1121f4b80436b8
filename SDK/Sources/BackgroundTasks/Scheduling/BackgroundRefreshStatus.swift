// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials
internal import Synchronization

/// Whether background work of this plugin may start, as `UIBackgroundRefreshStatus` on iOS.
public enum BackgroundRefreshStatus: Equatable, Sendable {
    case available
    /// An operator has disabled it: submissions are refused.
    case denied
    /// Not now: submissions are accepted and wait.
    case restricted(Set<Reason>)

    /// Why work does not start now.
    public enum Reason: Equatable, Hashable, Sendable {
        /// The battery is low, and `powerPolicy` of `tasks.json` then delays refresh tasks.
        case battery
        /// The daemon is about to stop.
        case drain
        /// Reserved; no host reports it.
        case maintenance
        /// The plugin has used up its runtime budget for a day.
        case budget
        /// Reserved; no host reports it.
        case pressure
        /// A reason that this SDK does not know; the value is its bit.
        case other(UInt32)
    }
}

/// Missed starts of a task's schedule, when the machine or the daemon was down, for which one run
/// stands.
public struct MissedTimes: Equatable, Sendable {
    /// The number of missed starts, at least 1.
    public let count: Int
    /// The first missed start.
    public let from: Date
}

extension BackgroundRefreshStatus {
    init(_ refresh: bg_refresh) {
        switch refresh.status {
        case BG_REFRESH_AVAILABLE: self = .available
        case BG_REFRESH_DENIED: self = .denied
        // Treat an unknown status as restricted: a submission shows whether it is accepted.
        default: self = .restricted(Set(Reason.all(in: refresh.reasons)))
        }
    }
}

extension BackgroundRefreshStatus.Reason {
    fileprivate static func all(in bits: UInt32) -> [Self] {
        (0..<UInt32(32)).map { 1 << $0 }.filter { bits & $0 != 0 }.map { bit in
            switch bit {
            case BG_RESTRICTED_BATTERY: .battery
            case BG_RESTRICTED_DRAIN: .drain
            case BG_RESTRICTED_MAINTENANCE: .maintenance
            case BG_RESTRICTED_BUDGET: .budget
            case BG_RESTRICTED_PRESSURE: .pressure
            default: .other(bit)
            }
        }
    }
}

extension BGTaskScheduler {
    /// Whether background work of this plugin may start; `available` if the host does not report
    /// it.
    public var backgroundRefreshStatus: BackgroundRefreshStatus {
        get async { await currentStatus() }
    }

    /// Runs off the caller's actor, which would otherwise be blocked until the daemon answers.
    @concurrent
    private func currentStatus() async -> BackgroundRefreshStatus { refreshStatusNow }

    /// Asks the daemon on the caller's thread, and waits.
    package var refreshStatusNow: BackgroundRefreshStatus { Statuses()?.refresh() ?? .available }
}

extension TaskContext {
    /// The missed starts that this run stands for, besides its own; `nil` if there are none, or if
    /// the run is over.
    public var missed: MissedTimes? {
        get async { await missedTimes() }
    }

    /// Runs off the caller's actor, which would otherwise be blocked until the daemon answers.
    @concurrent
    private func missedTimes() async -> MissedTimes? { Statuses(of: host)?.missed(by: run) }
}

/// The host's extension `bghost.status/1`.
private struct Statuses {
    private let host: Host
    private let table: ExtensionTable<bg_statuses>

    /// Finds the extension on the run's host, or outside a run on the plugin's host; `nil` if there
    /// is no host, or if it has no such extension.
    init?(of host: Host? = nil) {
        guard let host = host ?? TaskContext.current?.host ?? Host.last,
            let table = host.extension(BG_EXT_STATUS, as: bg_statuses.self)
        else { return nil }
        self.host = host
        self.table = table
    }

    func refresh() -> BackgroundRefreshStatus? {
        var refresh = bg_refresh()
        refresh.size = UInt32(MemoryLayout<bg_refresh>.size)
        guard table.refresh?(host.pointer, &refresh) == BG_OK else { return nil }
        return BackgroundRefreshStatus(refresh)
    }

    func missed(by run: bg_run) -> MissedTimes? {
        var missed = bg_missed()
        missed.size = UInt32(MemoryLayout<bg_missed>.size)
        guard table.missed?(host.pointer, run, &missed) == BG_OK, missed.count > 0 else {
            return nil
        }
        return MissedTimes(
            count: Int(clamping: missed.count),
            from: Date(unixMilliseconds: missed.from_unix_ms)
        )
    }
}
