// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
@_spi(Testing) public import BackgroundTasks
public import FoundationEssentials

/// Requests, as an operator submits them.
extension TestHost {
    /// Submits a request, and starts the runs that can start at once.
    ///
    /// As in the daemon, it replaces the pending request with the same identifier.
    ///
    /// - Parameter request: the request.
    /// - Throws: `BGTaskScheduler.Error`, or `TestHostError` as `advance`.
    public func submit(_ request: sending BGTaskRequest) async throws {
        guard let options = SubmissionOptions(needs: request.options) else {
            throw TestHostError(.invalidTasks, "the request has options that are not known here")
        }
        let parameters = try request.encodedParameters()
        let submission = Submission(
            task: request.identifier,
            kind: Self.kind(of: request),
            parameters: parameters.isEmpty ? "{}" : String(decoding: parameters, as: UTF8.self),
            earliestBegin: request.earliestBeginDate?.unixNanoseconds,
            onConflict: options.onConflict,
            requirements: options.requirements
        )
        try await driver.exclusively {
            // `nil` says that the pending request stays.
            _ = try submit(submission, startsNow: options.startsNow)
            try await driver.settle()
        }
    }

    private static func kind(of request: BGTaskRequest) -> TaskKind? {
        switch request {
        case is BGProcessingTaskRequest, is BGContinuedProcessingTaskRequest: .processing
        case is BGAppRefreshTaskRequest: .refresh
        default: nil
        }
    }

    /// Submits a request for a task, and starts the runs that can start at once.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the task.
    ///   - parameters: a value that encodes to a JSON object; its members override the task's own
    ///     parameters.
    ///   - earliestBeginDate: the time before which the run does not start; `nil` means at once.
    /// - Throws: `BGTaskScheduler.Error`, or `TestHostError` as `advance`.
    public func submit(
        _ identifier: String,
        parameters: (any Encodable & Sendable)? = nil,
        earliestBeginDate: Date? = nil
    ) async throws {
        let request = BGTaskRequest(identifier: identifier)
        request.parameters = parameters
        request.earliestBeginDate = earliestBeginDate
        try await submit(request)
    }

    /// Withdraws the pending request of a task.
    ///
    /// It does not affect a run.
    ///
    /// - Parameter identifier: the identifier of the task.
    /// - Returns: `false` if there is no pending request.
    @discardableResult
    public func cancel(taskRequestWithIdentifier identifier: String) -> Bool {
        core.change { $0.withdraw(identifier) }
    }

    /// Starts a run of a task at once, as `bghost trigger` does: it ignores dates, throttling and
    /// requirements.
    ///
    /// Apple's counterpart is `_simulateLaunchForTaskWithIdentifier`. Time does not advance: it
    /// returns when the run has ended, or at its first wait for the clock or an answer. The value
    /// does not change afterwards; the run continues by `advance` or an answer, and `runs` shows it.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the task.
    ///   - parameters: a value that encodes to a JSON object; its members override the task's own
    ///     parameters.
    /// - Returns: the run, once it has ended or waits for the clock or an answer.
    /// - Throws: `BGTaskScheduler.Error`; `TestHostError` as `advance`, and if other runs prevent
    ///   the start.
    @discardableResult
    public func launch(
        _ identifier: String,
        parameters: (any Encodable & Sendable)? = nil
    ) async throws -> Run {
        try await launch(simulated(identifier, parameters))
    }

    func launch(_ submission: Submission) async throws -> Run {
        try await driver.exclusively {
            let place = try begin(submission).place
            try await driver.settle()
            return core.read { Run($0.history[place]) }
        }
    }

    /// Starts a run of a task at once, and expires it as soon as it waits, or exceeds the host's
    /// patience with a computation.
    ///
    /// Apple's counterpart is `_simulateExpirationForTaskWithIdentifier`. If the run does not stop
    /// at once, time advances until it has stopped, at most by its grace. A run that does not wait
    /// on the host's clock has the host's patience to stop.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the task.
    ///   - parameters: a value that encodes to a JSON object; its members override the task's own
    ///     parameters.
    /// - Returns: the run, which has ended.
    /// - Throws: as `launch`.
    @discardableResult
    public func launchAndExpire(
        _ identifier: String,
        parameters: (any Encodable & Sendable)? = nil
    ) async throws -> Run {
        let submission = try simulated(identifier, parameters)
        return try await driver.exclusively {
            let run = try begin(submission)
            try await driver.expire(run.number)
            return core.read { Run($0.history[run.place]) }
        }
    }

    // MARK: Launching

    private func simulated(
        _ identifier: String,
        _ parameters: (any Encodable)?
    ) throws -> Submission {
        Submission(
            task: identifier,
            parameters: try Self.text(parameters),
            ignoresRequirements: true
        )
    }

    private static func text(_ parameters: (any Encodable)?) throws -> String {
        guard let parameters else { return "{}" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(parameters), as: UTF8.self)
    }

    private func submit(
        _ submission: Submission,
        isManual: Bool = false,
        startsNow: Bool = false
    ) throws -> RunID? {
        do throws(SubmitError) {
            return try core.change { engine throws(SubmitError) in
                isManual
                    ? try engine.submit(submission, isManual: true)
                    : try engine.submit(submission, startsNow: startsNow)
            }
        } catch {
            let code = BGTaskScheduler.Error.Code(rawValue: error.code.rawValue) ?? .unavailable
            throw BGTaskScheduler.Error(code, of: submission.task, error.description)
        }
    }

    /// Starts the run of a launch.
    private func begin(_ submission: Submission) throws -> LiveRun {
        let request = try submit(submission, isManual: true)
        let run = core.read { engine in
            engine.runs.values.first { engine.history[$0.place].record.request == request }
        }
        if let run { return run }
        let reasons = pending.last { $0.identifier == submission.task }?.waitingFor ?? []
        throw TestHostError(
            .notBegun,
            "\(submission.task) does not begin now; it waits for "
                + (reasons.isEmpty ? "its turn" : reasons.joined(separator: ", and for "))
        )
    }
}
