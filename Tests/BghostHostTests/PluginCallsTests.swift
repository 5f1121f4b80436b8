// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostDispatch
@testable import BghostHost
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostSchemas
@testable import BghostServices
import BghostWire
import Testing

/// Calls of plugins, without a process.
@Suite(.timeLimit(.minutes(5))) struct PluginCallsTests {
    @Test func `cancel_all withdraws what is pending, and answers then`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            try await daemon.submit(earliestBegin: .max)
            try daemon.call(.cancelAllPending, number: 1)
            await ReactorActor.wait { !daemon.executor.replies.isEmpty }
            #expect(daemon.executor.replies.map(\.call) == [1])
            #expect(daemon.executor.replies.map(\.status) == [CallStatus.ok])
            #expect(daemon.pending.isEmpty)
        }
    }

    /// An app that cancels all before it schedules anew does not lose what a person has answered.
    @Test func `A plugin neither lists nor withdraws answers to its notifications`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(
                actor.reactor,
                manifest: SampleManifest.make { $0.kind = .notificationAction }
            )
            try await daemon.submit(earliestBegin: .max)
            try daemon.call(.cancelAllPending, number: 1)
            try daemon.call(.cancelPending(task: "backup"), number: 2)
            try daemon.call(.pending(from: 0), number: 3)
            await ReactorActor.wait { daemon.executor.replies.count == 3 }
            let statuses = Dictionary(
                uniqueKeysWithValues: daemon.executor.replies.map { ($0.call, $0.status) }
            )
            #expect(statuses == [1: CallStatus.ok, 2: CallStatus.absent, 3: CallStatus.ok])
            #expect(daemon.pending.isEmpty)
            #expect(daemon.owners.dispatcher.scheduler.requests(of: "backup").count == 1)
        }
    }

    /// A packet has room for hundreds of frames, and a deadline that comes meanwhile waits for its end.
    @Test func `A packet full of cancel_all is refused before any of it is carried out`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            try await daemon.submit(earliestBegin: .max)
            for number in 1...UInt64(HostLimits.callsMax) {
                try daemon.call(.cancelAllPending, number: number)
            }
            #expect(throws: WireError.tooManyCalls) {
                try daemon.call(.cancelAllPending, number: .max)
            }
            #expect(daemon.pending.count == 1 && daemon.executor.replies.isEmpty)
            await ReactorActor.wait { daemon.executor.replies.count == HostLimits.callsMax }
            #expect(daemon.pending.isEmpty)
        }
    }

    /// Such a check takes 30 ms of the thread that enforces limits, and a packet has room for a thousand submissions.
    @Test func `A submission counts as so many calls as the check of its parameters takes`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let levels = (0..<20).map { level in
                let next = ##"{"$ref": "#/$defs/a\##(level + 1)"}"##
                return ##""a\##(level)": {"anyOf": [\##(next), \##(next)]}"##
            }.joined(separator: ", ")
            let schema = ##"{"$ref": "#/$defs/a0", "$defs": {\##(levels), "a20": false}}"##
            let schemas = HandlerSchemas([("backup", schema)])
            #expect(schemas.problems.isEmpty)
            try daemon.submit(parameters: "{}", number: 1)
            #expect(daemon.plugin.calls.count < 10)
            daemon.owners.intake.parameters.set(schemas, for: "plugin")
            try daemon.submit(parameters: "{}", number: 2)
            await ReactorActor.wait { daemon.executor.replies.count == 2 }
            let refused = daemon.executor.replies.first { $0.call == 2 }
            #expect(refused != nil && refused?.status != CallStatus.ok)
            #expect(daemon.plugin.calls.count >= 1 + (1 << 20) / CallRateLimiter.stepsPerCall)
        }
    }

    @Test func `A list counts as so many calls as identifiers are looked at for it`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            try await daemon.submit(earliestBegin: .max)
            let scheduler = daemon.owners.dispatcher.scheduler
            #expect(scheduler.pending(ofPlugin: daemon.plugin.index, from: 0).visited == 1)
            #expect(scheduler.pending(ofPlugin: daemon.plugin.index, from: .max).visited == 0)
            var calls = CallRateLimiter()
            calls.charge(steps: 8192)
            #expect(calls.count == 8)
        }
    }
}

extension TestOwners {
    fileprivate var pending: [RunID] {
        owners.dispatcher.scheduler.pending(ofPlugin: plugin.index).map(\.request.id)
    }

    fileprivate nonisolated(nonsending) func submit(earliestBegin: Int64) async throws {
        let submission = Submission(task: "backup", earliestBegin: earliestBegin)
        _ = try await owners.intake.submit(submission, isManual: false)
    }

    fileprivate func submit(parameters: String, number: UInt64) throws {
        let operation = Call.Operation.submit(
            task: "backup",
            parameters: parameters,
            kind: 0,
            earliestUnixMilliseconds: 0,
            needs: 0
        )
        try call(operation, number: number)
    }

    fileprivate func call(_ operation: Call.Operation, number: UInt64) throws {
        let call = Call(number: number, run: 0, operation: operation)
        try owners.calls.called(call, by: executor)
    }
}
