// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
public import FoundationEssentials

/// The Objective-C name of the process object.
public typealias NSProcessInfo = ProcessInfo

extension ProcessInfo {
    /// Whether background work of this plugin may start; `available` if the host does not report
    /// it.
    ///
    /// The call asks the daemon and blocks its thread;
    /// `BGTaskScheduler.shared.backgroundRefreshStatus` does not block.
    public var backgroundRefreshStatus: BackgroundRefreshStatus {
        BGTaskScheduler.shared.refreshStatusNow
    }
}
