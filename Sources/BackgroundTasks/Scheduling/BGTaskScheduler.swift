// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// Asks the host for runs of tasks: the plugin's own, and those that `tasks.json` lets it submit.
///
/// Each call asks the daemon and waits for the answer, a few milliseconds as a rule and five
/// seconds at the most; the calls that are not `async` hold up their thread so long. Use it from
/// any thread, inside runs and outside.
public final class BGTaskScheduler: Sendable {
    /// The scheduler of the host.
    public static let shared = BGTaskScheduler()

    private init() {}

    /// Submits a request.
    ///
    /// Once this returns, the host has stored it for good.
    ///
    /// - Throws: `BGTaskScheduler.Error`, or what the request's parameters throw as they are
    ///   encoded.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        let parameters = try taskRequest.parameters.map { try JSON.encode($0) } ?? Data()
        guard parameters.isEmpty || parameters.first == UInt8(ascii: "{") else {
            let reason = "its parameters must encode to a JSON object"
            throw Error(.unavailable, of: taskRequest.identifier, reason)
        }
        let identifier = taskRequest.identifier
        guard let schedule = Schedule() else { throw Error(BG_E_ABSENT, of: identifier) }
        let status = identifier.withBgStr { identifier in
            parameters.withUnsafeBytes { parameters in
                schedule.submit(
                    bg_request(
                        size: UInt32(MemoryLayout<bg_request>.size),
                        kind: taskRequest.kind,
                        task_id: identifier,
                        params: bg_str(parameters),
                        earliest_unix_ms: taskRequest.earliestBeginDate?.unixMilliseconds ?? 0,
                        needs: taskRequest.needs,
                        reserved: 0
                    )
                )
            }
        }
        guard status == BG_OK else { throw Error(status, of: identifier) }
    }

    /// Withdraws the pending request of an identifier, if there is one.
    ///
    /// A run is not touched.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        let status = Schedule()?.cancel(identifier) ?? BG_E_ABSENT
        report(status, of: identifier)
    }

    /// Withdraws every pending request of this plugin.
    ///
    /// Runs are not touched.
    public func cancelAllTaskRequests() {
        report(Schedule()?.cancelAll() ?? BG_E_ABSENT, of: "all requests")
    }

    /// Apple's calls to cancel cannot fail, so what is wrong goes to the log.
    private func report(_ status: bg_status, of identifier: String) {
        guard status != BG_OK else { return }
        Logger().warning("cannot cancel \(identifier): \(Error(status, of: identifier).reason)")
    }

    /// This plugin's pending requests; none if the host cannot tell.
    @concurrent
    public func pendingTaskRequests() async -> sending [BGTaskRequest] { pending() }

    /// Calls back with this plugin's pending requests, on the calling thread.
    public func getPendingTaskRequests(completionHandler: ([BGTaskRequest]) -> Void) {
        completionHandler(pending())
    }

    private func pending() -> [BGTaskRequest] {
        guard let schedule = Schedule() else { return [] }
        return schedule.pending().map(BGTaskRequest.pending)
    }
}

extension TaskContext {
    /// Submits a request without holding up the actor of the caller.
    ///
    /// - Throws: what `BGTaskScheduler.submit(_:)` throws.
    @concurrent
    public func submit(_ taskRequest: sending BGTaskRequest) async throws {
        try BGTaskScheduler.shared.submit(taskRequest)
    }

    /// Submits a request for a task of any kind, as soon as allowed.
    ///
    /// - Throws: what `BGTaskScheduler.submit(_:)` throws.
    public func submit(
        _ identifier: String,
        parameters: (any Encodable & Sendable)? = nil
    ) async throws {
        let request = BGTaskRequest(identifier: identifier)
        request.parameters = parameters
        try await submit(request)
    }
}
