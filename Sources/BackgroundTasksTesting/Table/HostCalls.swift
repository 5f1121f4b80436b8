// SPDX-License-Identifier: Apache-2.0

package import CBghost

/// What answers a plugin's calls, each on whatever thread the plugin makes it.
///
/// Nothing of the plugin may be called before the call has returned.
package protocol HostCalls: AnyObject, Sendable {
    /// Nanoseconds, since 1970 and on the clock of limits.
    var time: (unix: Int64, monotonic: Int64) { get }

    func complete(_ run: bg_run, _ end: RunEndCall) -> bg_status
    /// Why a run is to stop, `BG_WHY_*`; below 0 if it is over.
    func cancelled(_ run: bg_run) -> bg_status
    func setState(_ run: bg_run, _ state: UnsafeMutableRawPointer?) -> bg_status
    func progress(_ run: bg_run, _ progress: ProgressCall) -> bg_status
    func log(_ line: LogCall) -> bg_status

    func submit(_ request: SubmitCall) -> bg_status
    func cancelPending(_ identifier: String) -> bg_status
    func cancelAllPending() -> bg_status
    func pending() -> (status: bg_status, requests: [bg_pending])

    /// Whether background work of the plugin may start; its size is set by whoever asked.
    func refreshStatus() -> (status: bg_status, refresh: bg_refresh)
    func missed(_ run: bg_run) -> (status: bg_status, missed: bg_missed)

    func beginFetch(_ fetch: FetchCall) -> bg_status
    func cancelFetch(_ number: bg_fetch) -> bg_status

    func sleep(_ sleep: SleepCall) -> bg_status
    func wake(_ number: bg_sleep) -> bg_status

    func beginTransfer(_ transfer: TransferCall) -> (status: bg_status, id: String)
    func waitForTransfer(_ wait: TransferWaitCall) -> bg_status
    func cancelTransfer(_ id: String) -> bg_status
    /// Objects in JSON, the oldest first.
    func transfers(of session: String, after: String?) -> [String]
    func acknowledgeTransfer(_ id: String) -> bg_status

    func post(_ notification: NotificationCall) -> bg_status
    func withdraw(_ id: String) -> bg_status
    /// An array in JSON.
    func pendingNotifications() -> String
}

/// Of hosts that do not offer these extensions.
extension HostCalls {
    package func beginTransfer(_ transfer: TransferCall) -> (status: bg_status, id: String) {
        (BG_E_ABSENT, "")
    }
    package func waitForTransfer(_ wait: TransferWaitCall) -> bg_status { BG_E_ABSENT }
    package func cancelTransfer(_ id: String) -> bg_status { BG_E_ABSENT }
    package func transfers(of session: String, after: String?) -> [String] { [] }
    package func acknowledgeTransfer(_ id: String) -> bg_status { BG_E_ABSENT }
    package func post(_ notification: NotificationCall) -> bg_status { BG_E_ABSENT }
    package func withdraw(_ id: String) -> bg_status { BG_E_ABSENT }
    package func pendingNotifications() -> String { "[]" }
}

/// How a plugin ended a run.
package struct RunEndCall: Equatable, Sendable {
    package var status: bg_status
    package var message: String
    /// JSON, or "".
    package var payload: String
    /// Milliseconds.
    package var retryAfter: Int64

    package init(
        status: bg_status,
        message: String = "",
        payload: String = "",
        retryAfter: Int64 = 0
    ) {
        self.status = status
        self.message = message
        self.payload = payload
        self.retryAfter = retryAfter
    }
}

/// How far a plugin says that a run is.
package struct ProgressCall: Equatable, Sendable {
    package var done: UInt64
    package var total: UInt64
    package var phase: String

    package init(done: UInt64, total: UInt64, phase: String) {
        self.done = done
        self.total = total
        self.phase = phase
    }
}

/// A line of a plugin's log.
package struct LogCall: Equatable, Sendable {
    package var run: bg_run
    package var level: UInt32
    package var message: String

    package init(run: bg_run, level: UInt32, message: String) {
        self.run = run
        self.level = level
        self.message = message
    }
}

/// A request that a plugin submits.
package struct SubmitCall: Equatable, Sendable {
    package var kind: UInt32
    package var identifier: String
    package var parameters: String
    /// Unix milliseconds; 0 is none.
    package var earliest: Int64
    package var needs: UInt32

    package init(
        kind: UInt32,
        identifier: String,
        parameters: String,
        earliest: Int64,
        needs: UInt32
    ) {
        self.kind = kind
        self.identifier = identifier
        self.parameters = parameters
        self.earliest = earliest
        self.needs = needs
    }
}
