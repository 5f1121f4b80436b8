// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostDispatch
@testable import BghostHost
import BghostModel
import BghostOwnerSupport
import BghostPolicy
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
}

extension TestOwners {
    fileprivate var pending: [RunID] {
        owners.dispatcher.scheduler.pending(ofPlugin: plugin.index).map(\.request.id)
    }

    fileprivate nonisolated(nonsending) func submit(earliestBegin: Int64) async throws {
        let submission = Submission(task: "backup", earliestBegin: earliestBegin)
        _ = try await owners.intake.submit(submission, isManual: false)
    }

    fileprivate func call(_ operation: Call.Operation, number: UInt64) throws {
        let call = Call(number: number, run: 0, operation: operation)
        try owners.calls.called(call, by: executor)
    }
}
