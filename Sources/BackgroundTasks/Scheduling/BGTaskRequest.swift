// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials

/// A request to run a task of `tasks.json`, of whatever kind that task is.
///
/// Apple's two kinds are its subclasses. Replaces the pending request of the same identifier when
/// it is submitted.
open class BGTaskRequest {
    /// The identifier of the task, a key of `tasks` in `tasks.json`.
    public let identifier: String
    /// The run does not begin before this time; `nil` is "as soon as allowed".
    open var earliestBeginDate: Date?
    /// What the handler is given, laid over the parameters of `tasks.json` key by key.
    ///
    /// Must encode to a JSON object. Requests that the host lists have none here.
    open var parameters: (any Encodable)?

    /// Makes a request.
    public init(identifier: String) { self.identifier = identifier }

    /// `BG_KIND_*`; 0 takes the task's own.
    var kind: UInt32 { 0 }
    /// `BG_NEEDS_*`.
    var needs: UInt32 { 0 }
}

/// A request to launch a task briefly, to refresh something.
open class BGAppRefreshTaskRequest: BGTaskRequest {
    override var kind: UInt32 { UInt32(BG_KIND_REFRESH) }
}

/// A request to run a task that takes minutes.
open class BGProcessingTaskRequest: BGTaskRequest {
    /// Whether the run waits for, and needs, a network.
    open var requiresNetworkConnectivity = false
    /// Whether the run waits for, and needs, external power.
    open var requiresExternalPower = false

    override var kind: UInt32 { UInt32(BG_KIND_PROCESSING) }
    override var needs: UInt32 {
        (requiresNetworkConnectivity ? UInt32(BG_NEEDS_NETWORK) : 0)
            | (requiresExternalPower ? UInt32(BG_NEEDS_POWER) : 0)
    }
}

extension BGTaskRequest {
    /// A request as the host lists it.
    static func pending(_ pending: bg_pending) -> BGTaskRequest {
        let identifier = withUnsafeBytes(of: pending.task_id) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let request =
            switch Int32(bitPattern: pending.kind) {
            case Int32(BG_KIND_REFRESH): BGAppRefreshTaskRequest(identifier: identifier)
            case Int32(BG_KIND_PROCESSING): BGProcessingTaskRequest(identifier: identifier)
            default: BGTaskRequest(identifier: identifier)
            }
        if pending.earliest_unix_ms > 0 {
            request.earliestBeginDate = Date(unixMilliseconds: pending.earliest_unix_ms)
        }
        return request
    }
}
