// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// Submits requests for tasks: the plugin's own, and those that `tasks.json` permits it to submit.
///
/// Each call asks the daemon and waits for the answer, usually for a few milliseconds and at most
/// five seconds. A call that is not `async` blocks its thread for that time. Use it from any
/// thread, inside and outside runs.
public final class BGTaskScheduler: Sendable {
    /// The scheduler of the host.
    public static let shared = BGTaskScheduler()

    private init() {}

    /// Submits a request, which the host has stored when this returns.
    ///
    /// - Parameter taskRequest: the request.
    /// - Throws: `BGTaskScheduler.Error`, or the error of encoding the request's parameters.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        let parameters = try taskRequest.encodedParameters()
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
                        needs: taskRequest.options,
                        reserved: 0
                    )
                )
            }
        }
        guard status == BG_OK else { throw Error(status, of: identifier) }
    }

    /// Submits a request without blocking the caller's actor.
    ///
    /// - Parameter taskRequest: the request.
    /// - Throws: as `submit(_:)`.
    @concurrent
    public func submitTaskRequest(_ taskRequest: sending BGTaskRequest) async throws {
        try submit(taskRequest)
    }

    /// Submits a request and calls back with the error, if there is one.
    ///
    /// It returns at once; the callback is on no particular thread. The request is as it is at the
    /// time of the call: do not change it afterwards.
    ///
    /// - Parameters:
    ///   - taskRequest: the request.
    ///   - completionHandler: called once, with `nil` when the host has stored the request.
    public func submitTaskRequest(
        _ taskRequest: BGTaskRequest,
        completionHandler: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) {
        // Requests are not Sendable, as on Apple's platforms; the caller has given this one away.
        nonisolated(unsafe) let taskRequest = taskRequest
        // A child of the run, so that the host records which run has submitted the request.
        let context = TaskContext.current
        Task.detached(executorPreference: context?.executor) {
            TaskContext.$current.withValue(context) {
                do {
                    try self.submit(taskRequest)
                    completionHandler(nil)
                } catch {
                    completionHandler(error)
                }
            }
        }
    }

    /// Withdraws the pending request of a task, if there is one.
    ///
    /// It does not affect a run.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        let status = Schedule()?.cancel(identifier) ?? BG_E_ABSENT
        report(status, of: identifier)
    }

    /// Withdraws every pending request of this plugin.
    ///
    /// It does not affect runs.
    public func cancelAllTaskRequests() {
        report(Schedule()?.cancelAll() ?? BG_E_ABSENT, of: "all requests")
    }

    /// Apple's methods for cancelling do not throw, so errors go to the log.
    private func report(_ status: bg_status, of identifier: String) {
        guard status != BG_OK else { return }
        Logger().warning("cannot cancel \(identifier): \(Error(status, of: identifier).reason)")
    }

    /// This plugin's pending requests; empty if the host cannot list them.
    @concurrent
    public func pendingTaskRequests() async -> sending [BGTaskRequest] { pending() }

    /// Calls back with this plugin's pending requests on the calling thread.
    public func getPendingTaskRequests(completionHandler: ([BGTaskRequest]) -> Void) {
        completionHandler(pending())
    }

    private func pending() -> [BGTaskRequest] {
        guard let schedule = Schedule() else { return [] }
        return schedule.pending().map(BGTaskRequest.pending)
    }
}

extension TaskContext {
    /// Submits a request without blocking the caller's actor.
    ///
    /// - Parameter taskRequest: the request.
    /// - Throws: as `BGTaskScheduler.submit(_:)`.
    @concurrent
    public func submit(_ taskRequest: sending BGTaskRequest) async throws {
        try BGTaskScheduler.shared.submit(taskRequest)
    }

    /// Submits a request for a task of any kind, to run as soon as permitted.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the task.
    ///   - parameters: a value that encodes to a JSON object, or `nil`.
    /// - Throws: as `BGTaskScheduler.submit(_:)`.
    public func submit(
        _ identifier: String,
        parameters: (any Encodable & Sendable)? = nil
    ) async throws {
        let request = BGTaskRequest(identifier: identifier)
        request.parameters = parameters
        try await submit(request)
    }
}
