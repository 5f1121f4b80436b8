// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension API {
    /// An accepted request whose run has not started.
    package struct Request: Codable, Equatable, Sendable {
        /// The id of the request.
        @Formatted<ULID> package var id: RunID
        /// The identifier of its task.
        package var task: String
        /// When it was submitted.
        @Formatted<RFC3339> package var submittedAt: Int64
        /// It does not start before this time; null if it may start at once.
        @FormOrNull<RFC3339> package var earliestBegin: Int64?
        /// It does not start after this time; null if it has no limit.
        @FormOrNull<RFC3339> package var latestBegin: Int64?
        /// How much later than its earliest date it may start to share a wake-up, seconds; absent for 0.
        @FormOrAbsent<Seconds> package var toleranceSeconds: Duration?
        /// From 0 to 1000; the highest starts first.
        @OrNull package var priority: Int?
        /// The number of its next run, from 1.
        @OrDefault package var attempt: Int
        /// Runs whose handler reported a failure or did not stop in time.
        @OrDefault package var failures: Int
        /// Runs whose worker died.
        @OrDefault package var losses: Int
        /// Runs that were interrupted, and not by their own fault.
        @OrDefault package var interruptions: Int
        /// Whether it is a manual run (`bghost trigger`).
        @OrDefault package var simulated: Bool
        /// Who submitted it; `operator` for a daemon of an older version.
        @OrNull package var submitter: SubmitterKind?
        /// The run in which a handler submitted it, or whose success it follows; absent for other submitters.
        @FormOrAbsent<ULID> package var submitterRun: RunID?
        /// The plugin that submitted it outside of its runs; absent for other submitters.
        @OrAbsent package var submitterPlugin: String?
        /// The parameters of its run, a JSON object.
        @OrNull package var parameters: JSONPart?
        /// Why it has not started: one short sentence for each unmet gate.
        @ElementsOrEmpty package var waitingFor: [String]
        /// When it can start, or null if it cannot any more; absent if nothing is predicted.
        @OrAbsent package var earliestStart: PossibleTime?
        /// Whether it starts at `earliestStart` if nothing else changes; absent if nothing is predicted.
        @OrAbsent package var certain: Bool?
        /// Whether it waits for an exceptional gate, such as a throttle; absent if nothing is predicted.
        @OrAbsent package var attention: Bool?
        /// True if it was pending already, and a submission was dropped in favor of it; else absent.
        @OrAbsent package var kept: Bool?
    }

    /// Who submitted a request: a client of the control socket, the manifest or the daemon, a handler
    /// during a run or `then` of a run's task after it, or a plugin outside of its runs.
    package enum SubmitterKind: String, Codable, Equatable, Sendable {
        case `operator`
        case manifest
        case run
        case plugin
    }

    /// A time, or null, in a field that can be absent too.
    package struct PossibleTime: Codable, Equatable, Sendable {
        /// Unix nanoseconds.
        package var time: Int64?

        init(_ time: Int64?) { self.time = time }

        package init(from decoder: any Decoder) throws {
            time = try Formatted<RFC3339>(from: decoder).wrappedValue
        }

        package func encode(to encoder: any Encoder) throws {
            try FormOrNull<RFC3339>(wrappedValue: time).encode(to: encoder)
        }
    }

    /// A dead letter: a request that failed too often.
    package struct DeadLetter: Codable, Equatable, Sendable {
        /// The id of the request.
        @Formatted<ULID> package var id: RunID
        /// The identifier of its task.
        package var task: String
        /// Why it is not tried again.
        @OrDefault package var reason: String
        /// When it became a dead letter.
        @Formatted<RFC3339> package var diedAt: Int64
        /// The last run of the request.
        @Formatted<ULID> package var run: RunID
        /// When it was submitted.
        @Formatted<RFC3339> package var submittedAt: Int64
        /// It does not start after this time; null if it has no limit.
        @FormOrNull<RFC3339> package var latestBegin: Int64?
        /// From 0 to 1000; the highest starts first.
        @OrNull package var priority: Int?
        /// Runs whose handler reported a failure or did not stop in time.
        @OrDefault package var failures: Int
        /// Runs whose worker died.
        @OrDefault package var losses: Int
        /// Runs that were interrupted, and not by their own fault.
        @OrDefault package var interruptions: Int
        /// Who submitted it; `operator` for a daemon of an older version.
        @OrNull package var submitter: SubmitterKind?
        /// The run in which a handler submitted it, or whose success it follows; absent for other submitters.
        @FormOrAbsent<ULID> package var submitterRun: RunID?
        /// The plugin that submitted it outside of its runs; absent for other submitters.
        @OrAbsent package var submitterPlugin: String?
        /// The parameters of its runs, a JSON object.
        @OrNull package var parameters: JSONPart?
    }
}

extension API.Request {
    package init(_ request: PendingRequest) {
        let submitter = SubmitterFields(request.submitter)
        self.init(
            id: request.id,
            task: request.task,
            submittedAt: request.submittedAt,
            earliestBegin: request.earliestBegin,
            latestBegin: request.latestBegin,
            toleranceSeconds: request.tolerance > 0 ? .nanoseconds(request.tolerance) : nil,
            priority: request.priority,
            attempt: request.attempt,
            failures: request.counters.failures,
            losses: request.counters.losses,
            interruptions: request.counters.interruptions,
            simulated: request.isManual,
            submitter: submitter.kind,
            submitterRun: submitter.run,
            submitterPlugin: submitter.plugin,
            parameters: JSONPart(request.parameters),
            waitingFor: request.waitingFor,
            earliestStart: request.outlook.map { API.PossibleTime($0.earliest) },
            certain: request.outlook?.isCertain,
            attention: request.outlook?.needsAttention,
            kept: request.isKept ? true : nil
        )
    }

    /// The request, with the defaults of a submission for what an older daemon does not say.
    package var request: PendingRequest {
        var request = PendingRequest(
            id: id,
            task: task,
            submittedAt: submittedAt,
            earliestBegin: earliestBegin,
            latestBegin: latestBegin,
            tolerance: Int64(clamping: toleranceSeconds?.clampedNanoseconds ?? 0),
            priority: priority ?? 500,
            parameters: parameters?.text ?? "{}",
            isManual: simulated,
            submitter: SubmitterFields(submitter, submitterRun, submitterPlugin).submitter,
            counters: AttemptCounters(
                failures: failures,
                losses: losses,
                interruptions: interruptions
            ),
            waitingFor: waitingFor,
            outlook: certain.map {
                StartOutlook(
                    earliest: earliestStart?.time,
                    isCertain: $0,
                    needsAttention: attention ?? false
                )
            }
        )
        request.isKept = kept ?? false
        return request
    }
}

extension API.DeadLetter {
    package init(_ letter: DeadLetter) {
        let request = letter.request
        let submitter = SubmitterFields(request.submitter)
        self.init(
            id: request.id,
            task: request.task,
            reason: letter.reason,
            diedAt: letter.diedAt,
            run: letter.run,
            submittedAt: request.submittedAt,
            latestBegin: request.latestBegin,
            priority: request.priority,
            failures: request.counters.failures,
            losses: request.counters.losses,
            interruptions: request.counters.interruptions,
            submitter: submitter.kind,
            submitterRun: submitter.run,
            submitterPlugin: submitter.plugin,
            parameters: JSONPart(request.parameters)
        )
    }

    package var letter: DeadLetter {
        DeadLetter(
            request: Request(
                id: id,
                task: task,
                parameters: parameters?.text ?? "{}",
                submittedAt: submittedAt,
                latestBegin: latestBegin,
                priority: priority ?? 500,
                submitter: SubmitterFields(submitter, submitterRun, submitterPlugin).submitter,
                counters: AttemptCounters(
                    failures: failures,
                    losses: losses,
                    interruptions: interruptions
                )
            ),
            reason: reason,
            run: run,
            diedAt: diedAt
        )
    }
}

/// The members that say who submitted a request.
private struct SubmitterFields {
    let kind: API.SubmitterKind?
    var run: RunID?
    var plugin: String?

    init(_ kind: API.SubmitterKind?, _ run: RunID?, _ plugin: String?) {
        self.kind = kind
        self.run = run
        self.plugin = plugin
    }

    init(_ submitter: Submitter) {
        switch submitter {
        case .operator: kind = .operator
        case .manifest: kind = .manifest
        case .run(let id), .predecessor(let id): (kind, run) = (.run, id)
        case .plugin(let name): (kind, plugin) = (.plugin, name)
        }
    }

    var submitter: Submitter {
        switch kind {
        case .manifest: .manifest
        case .run: run.map { .run($0) } ?? .operator
        case .plugin: .plugin(plugin ?? "")
        case .operator, nil: .operator
        }
    }
}
