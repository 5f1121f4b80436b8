// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The process, by the name that Objective-C has for it.
public typealias NSProcessInfo = ProcessInfo

extension ProcessInfo {
    /// Whether background work of this plugin may start; `available` if the host cannot tell.
    ///
    /// Asks the daemon and waits; `BGTaskScheduler.shared.backgroundRefreshStatus` does not hold up
    /// its thread.
    public var backgroundRefreshStatus: BackgroundRefreshStatus {
        BGTaskScheduler.shared.refreshStatusNow
    }
}
