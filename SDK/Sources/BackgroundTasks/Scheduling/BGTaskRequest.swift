// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials

/// A request to run a task of `tasks.json`, whatever its kind.
///
/// Apple's two kinds are its subclasses. When it is submitted, it replaces the pending request with
/// the same identifier.
open class BGTaskRequest {
    /// The identifier of the task, a key of `tasks` in `tasks.json`.
    public let identifier: String
    /// The time before which the run does not start; `nil` means as soon as permitted.
    open var earliestBeginDate: Date?
    /// The handler's parameters, whose members override those in `tasks.json`.
    ///
    /// The value must encode to a JSON object. It is `nil` in requests that the host lists.
    open var parameters: (any Encodable)?
    /// What becomes of the pending request of the task.
    ///
    /// Apple's frameworks have no such property: there, the new request replaces the pending one.
    open var onConflict = ConflictPolicy.replace

    /// What becomes of the pending request of a task when another one is submitted.
    public enum ConflictPolicy: Sendable {
        /// The new request replaces it.
        case replace
        /// It stays, and the new request is dropped.
        case keep
        /// The new request replaces it and keeps its dates.
        case update
        /// Both stay: the new request begins after it, after the runs of the task and after their
        /// retries; at most 1000 wait so.
        case append
    }

    /// Creates a request.
    public init(identifier: String) { self.identifier = identifier }

    /// `BG_KIND_*`; 0 means the task's own kind.
    var kind: UInt32 { 0 }
    /// `BG_NEEDS_*`.
    @_spi(Testing)
    public var needs: UInt32 { 0 }
    /// Whether the run starts at once, or the request is refused.
    var startsNow: Bool { false }

    /// `BG_NEEDS_*` and `BG_SUBMIT_*`.
    @_spi(Testing)
    public var options: UInt32 {
        let conflict: UInt32 =
            switch onConflict {
            case .replace: 0
            case .keep: UInt32(BG_SUBMIT_KEEP)
            case .update: UInt32(BG_SUBMIT_UPDATE)
            case .append: UInt32(BG_SUBMIT_APPEND)
            }
        return needs | conflict | (startsNow ? UInt32(BG_SUBMIT_NOW) : 0)
    }

    /// The parameters as a JSON object; empty if there are none.
    ///
    /// - Throws: `BGTaskScheduler.Error` if they are no object, or the error of encoding them.
    @_spi(Testing)
    public func encodedParameters() throws -> Data {
        let encoded = try parameters.map { try JSON.encode($0) } ?? Data()
        guard encoded.isEmpty || encoded.first == UInt8(ascii: "{") else {
            let reason = "its parameters must encode to a JSON object"
            throw BGTaskScheduler.Error(.unavailable, of: identifier, reason)
        }
        return encoded
    }
}

/// A request for a short run that refreshes content.
open class BGAppRefreshTaskRequest: BGTaskRequest {
    override var kind: UInt32 { UInt32(BG_KIND_REFRESH) }
}

/// A request for a run that takes minutes.
open class BGProcessingTaskRequest: BGTaskRequest {
    /// Whether the run starts and continues only with a network.
    open var requiresNetworkConnectivity = false
    /// Whether the run starts and continues only with external power.
    open var requiresExternalPower = false

    /// Whether the run starts and continues only with a network that does not cost by the byte.
    ///
    /// Apple's frameworks have no such property.
    open var requiresUnmeteredNetwork = false

    /// The properties with their bits: read to submit a request, written for the host's list.
    private static var requirements:
        [(bit: UInt32, property: ReferenceWritableKeyPath<BGProcessingTaskRequest, Bool>)]
    {
        [
            (UInt32(BG_NEEDS_NETWORK), \.requiresNetworkConnectivity),
            (UInt32(BG_NEEDS_POWER), \.requiresExternalPower),
            (UInt32(BG_NEEDS_UNMETERED), \.requiresUnmeteredNetwork),
        ]
    }

    override var kind: UInt32 { UInt32(BG_KIND_PROCESSING) }

    @_spi(Testing)
    public override var needs: UInt32 {
        Self.requirements.reduce(0) { self[keyPath: $1.property] ? $0 | $1.bit : $0 }
    }

    /// Sets the properties as the host's list says.
    fileprivate func require(_ needs: UInt32) {
        for (bit, property) in Self.requirements { self[keyPath: property] = needs & bit != 0 }
    }
}

extension BGTaskRequest {
    /// Creates a request from the host's list.
    static func pending(_ pending: bg_pending) -> BGTaskRequest {
        let identifier = withUnsafeBytes(of: pending.task_id) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let request =
            switch Int32(bitPattern: pending.kind) {
            case Int32(BG_KIND_REFRESH): BGAppRefreshTaskRequest(identifier: identifier)
            case Int32(BG_KIND_PROCESSING): processing(identifier, needs: pending.needs)
            default: BGTaskRequest(identifier: identifier)
            }
        if pending.earliest_unix_ms > 0 {
            request.earliestBeginDate = Date(unixMilliseconds: pending.earliest_unix_ms)
        }
        return request
    }

    private static func processing(_ identifier: String, needs: UInt32) -> BGTaskRequest {
        let request = BGProcessingTaskRequest(identifier: identifier)
        request.require(needs)
        return request
    }
}
