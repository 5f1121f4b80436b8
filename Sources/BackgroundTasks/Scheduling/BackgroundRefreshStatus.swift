// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials
internal import Synchronization

/// Whether background work of this plugin may start, as `UIBackgroundRefreshStatus` says on iOS.
public enum BackgroundRefreshStatus: Equatable, Sendable {
    case available
    /// An operator has said no: a submission is refused.
    case denied
    /// Not now: a submission is accepted and waits.
    case restricted(Set<Reason>)

    /// Why not now.
    public enum Reason: Equatable, Hashable, Sendable {
        /// The machine is on battery.
        case battery
        /// The daemon is about to stop.
        case drain
        case maintenance
        /// The plugin's runs took too long within a day.
        case budget
        /// Processors and disks are busy.
        case pressure
        /// Something that this SDK does not know, by its bit.
        case other(UInt32)
    }
}

/// Times of a task's schedule that nobody could serve, as the machine or the daemon was down, and that
/// one run stands for.
public struct MissedTimes: Equatable, Sendable {
    /// How many there are, at least 1.
    public let count: Int
    /// The first of them.
    public let from: Date
}

extension BackgroundRefreshStatus {
    init(_ refresh: bg_refresh) {
        switch refresh.status {
        case BG_REFRESH_AVAILABLE: self = .available
        case BG_REFRESH_DENIED: self = .denied
        // What is not known is a "not now": a submission shows.
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
    /// Whether background work of this plugin may start; `available` if the host cannot tell.
    public var backgroundRefreshStatus: BackgroundRefreshStatus {
        get async { await currentStatus() }
    }

    /// Off the caller's actor, which the daemon's answer would hold up.
    @concurrent
    private func currentStatus() async -> BackgroundRefreshStatus { refreshStatusNow }

    /// The same, on the caller's thread.
    var refreshStatusNow: BackgroundRefreshStatus { Statuses()?.refresh() ?? .available }
}

extension TaskContext {
    /// The times of its schedule that this run stands for besides its own; `nil` if there are none,
    /// or the run is over.
    public var missed: MissedTimes? {
        get async { await missedTimes() }
    }

    /// Off the caller's actor, which the daemon's answer would hold up.
    @concurrent
    private func missedTimes() async -> MissedTimes? { Statuses(of: host)?.missed(by: run) }
}

/// The host's extension `bghost.status/1`.
private struct Statuses {
    private let host: Host
    private let table: UnsafePointer<bg_statuses>

    /// Finds it on the host of the run, or outside a run on the host of the plugin; `nil` if there
    /// is no host or it has no such extension.
    init?(of host: Host? = nil) {
        guard let host = host ?? TaskContext.current?.host ?? Host.latest.withLock({ $0 }),
            let table = host.extension(BG_EXT_STATUS, as: bg_statuses.self)
        else { return nil }
        self.host = host
        self.table = table
    }

    func refresh() -> BackgroundRefreshStatus? {
        var refresh = bg_refresh()
        refresh.size = UInt32(MemoryLayout<bg_refresh>.size)
        guard table.pointee.refresh?(host.pointer, &refresh) == BG_OK else { return nil }
        return BackgroundRefreshStatus(refresh)
    }

    func missed(by run: bg_run) -> MissedTimes? {
        var missed = bg_missed()
        missed.size = UInt32(MemoryLayout<bg_missed>.size)
        guard table.pointee.missed?(host.pointer, run, &missed) == BG_OK, missed.count > 0 else {
            return nil
        }
        return MissedTimes(
            count: Int(clamping: missed.count),
            from: Date(unixMilliseconds: missed.from_unix_ms)
        )
    }
}
