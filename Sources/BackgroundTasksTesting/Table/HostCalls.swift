// SPDX-License-Identifier: Apache-2.0

package import CBghost

/// Answers a plugin's calls, each on the thread on which the plugin makes it.
///
/// An implementation must not call the plugin before the call has returned.
package protocol HostCalls: AnyObject, Sendable {
    /// The time since 1970, and on the clock for limits, both in nanoseconds.
    var time: (unix: Int64, monotonic: Int64) { get }

    func complete(_ run: bg_run, _ end: RunEndCall) -> bg_status
    /// Why a run must stop, `BG_WHY_*`; 0 if it may continue, negative if it is over.
    func cancelled(_ run: bg_run) -> bg_status
    func setState(_ run: bg_run, _ state: UnsafeMutableRawPointer?) -> bg_status
    func progress(_ run: bg_run, _ progress: ProgressCall) -> bg_status
    func log(_ line: LogCall) -> bg_status

    func submit(_ request: SubmitCall) -> bg_status
    func cancelPending(_ identifier: String) -> bg_status
    func cancelAllPending() -> bg_status
    func pending() -> (status: bg_status, requests: [bg_pending])

    /// The names of a run; the caller sets the size field.
    func identity(of run: bg_run) -> (status: bg_status, identity: bg_run_identity)

    /// Whether background work of the plugin may start; the caller sets the size field.
    func refreshStatus() -> (status: bg_status, refresh: bg_refresh)
    func missed(_ run: bg_run) -> (status: bg_status, missed: bg_missed)

    func beginFetch(_ fetch: FetchCall) -> bg_status
    func cancelFetch(_ number: bg_fetch) -> bg_status

    func sleep(_ sleep: SleepCall) -> bg_status
    func wake(_ number: bg_sleep) -> bg_status

    func beginTransfer(_ transfer: TransferCall) -> (status: bg_status, id: String)
    func waitForTransfer(_ wait: TransferWaitCall) -> bg_status
    func cancelTransfer(_ id: String) -> bg_status
    /// JSON objects, the oldest first.
    func transfers(of session: String, after: String?) -> [String]
    func acknowledgeTransfer(_ id: String) -> bg_status
    func keepEnds(_ run: bg_run, _ ids: [String]) -> bg_status
    /// An array in JSON, of at most so many bytes; 0 asks for its length alone, and nothing is claimed.
    func claimEnds(
        _ run: bg_run,
        of session: String,
        bytesMax: Int
    ) -> (status: bg_status, json: String)

    func post(_ notification: NotificationCall) -> bg_status
    func withdraw(_ id: String) -> bg_status
    /// A JSON array.
    func pendingNotifications() -> String
}

/// Defaults for hosts without these extensions.
extension HostCalls {
    package func identity(of run: bg_run) -> (status: bg_status, identity: bg_run_identity) {
        (BG_E_ABSENT, bg_run_identity())
    }
    package func beginTransfer(_ transfer: TransferCall) -> (status: bg_status, id: String) {
        (BG_E_ABSENT, "")
    }
    package func waitForTransfer(_ wait: TransferWaitCall) -> bg_status { BG_E_ABSENT }
    package func cancelTransfer(_ id: String) -> bg_status { BG_E_ABSENT }
    package func transfers(of session: String, after: String?) -> [String] { [] }
    package func acknowledgeTransfer(_ id: String) -> bg_status { BG_E_ABSENT }
    package func keepEnds(_ run: bg_run, _ ids: [String]) -> bg_status { BG_E_ABSENT }
    package func claimEnds(
        _ run: bg_run,
        of session: String,
        bytesMax: Int
    ) -> (status: bg_status, json: String) { (BG_E_ABSENT, "") }
    package func post(_ notification: NotificationCall) -> bg_status { BG_E_ABSENT }
    package func withdraw(_ id: String) -> bg_status { BG_E_ABSENT }
    package func pendingNotifications() -> String { "[]" }
}

/// The completion of a run by a plugin.
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

/// The progress of a run that a plugin reports.
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
    /// Unix milliseconds; 0 means none.
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
