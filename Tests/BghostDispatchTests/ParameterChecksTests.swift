// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostSchemas
import BghostServices
import BghostTestSupport
import Testing

/// Checks of parameters while the schemas of a plugin are read, and afterwards, without a process.
@Suite(.timeLimit(.minutes(5))) struct ParameterChecksTests {
    private struct Unreadable: Error {}

    private final class Client {
        let checks: ParameterChecks
        var hasBegun = false
        var refusal: SubmitError?

        init(_ checks: ParameterChecks) { self.checks = checks }

        nonisolated(nonsending) func submit() async {
            hasBegun = true
            do throws(SubmitError) {
                try await checks.require(ParameterChecksTests.wrong)
            } catch {
                refusal = error
            }
        }
    }

    private static let schemas = HandlerSchemas([("backup", #"{"required":["path"]}"#)])
    private static let wrong = Submission(task: "backup")

    private func checks(_ change: (inout TaskDefinition) -> Void = { _ in }) -> ParameterChecks {
        let now = Moment(monotonic: 1, unix: 1_900_000_000_000_000_000)
        let settings = SampleManifest.settings(SampleManifest.make(change))
        return ParameterChecks(Dispatcher(settings, moment: { now }, recorder: nil))
    }

    @Test func `A client's submission waits until the schemas are read`() async throws {
        try await ReactorActor.run { actor in
            let client = Client(checks())
            let checks = client.checks
            let reading = checks.beginReading("plugin")
            ReactorReference(client, on: actor.reactor).performAsync { await $0.submit() }
            await ReactorActor.wait { client.hasBegun }
            // What a plugin submits does not wait.
            try checks.check(Self.wrong)
            #expect(client.refusal == nil)
            let told = checks.finishReading(
                reading,
                "plugin",
                Result<_, Unreadable>.success(Self.schemas)
            )
            #expect(told.isEmpty)
            await ReactorActor.wait { client.refusal != nil }
            #expect(client.refusal?.code == .unfitParameters)
            #expect(
                client.refusal?.details == ["parameters /path: it is missing; a value is wanted"]
            )
            #expect(throws: SubmitError.self) { try checks.check(Self.wrong) }
        }
    }

    @Test func `An earlier version's schemas do not replace a later one's`() async throws {
        try await ReactorActor.run { _ in
            let checks = checks()
            let early = checks.beginReading("plugin")
            checks.set(HandlerSchemas(), for: "plugin")
            _ = checks.finishReading(early, "plugin", Result<_, Unreadable>.success(Self.schemas))
            try checks.check(Self.wrong)
            let late = checks.beginReading("plugin")
            let last = checks.beginReading("plugin")
            _ = checks.finishReading(last, "plugin", Result<_, Unreadable>.success(Self.schemas))
            _ = checks.finishReading(late, "plugin", Result<_, Unreadable>.failure(Unreadable()))
            #expect(throws: SubmitError.self) { try checks.check(Self.wrong) }
            checks.forget("plugin")
            try checks.check(Self.wrong)
        }
    }

    @Test func `Schemas that cannot be read refuse nothing, and the reason is told`() async throws {
        try await ReactorActor.run { _ in
            let checks = checks()
            let first = checks.beginReading("plugin")
            let told = checks.finishReading(
                first,
                "plugin",
                Result<_, Unreadable>.failure(Unreadable())
            )
            #expect(told.count == 1 && told[0].contains("could not be read"))
            try await checks.require(Self.wrong)
            let second = checks.beginReading("plugin")
            let broken = HandlerSchemas([("backup", "{")])
            let problems = checks.finishReading(
                second,
                "plugin",
                Result<_, Unreadable>.success(broken)
            )
            #expect(problems.count == 1 && problems[0].contains("`backup`"))
            try await checks.require(Self.wrong)
        }
    }

    @Test func `Only tasks of kinds that a manifest names are checked`() async throws {
        try await ReactorActor.run { _ in
            for kind in [TaskKind.notificationAction, .urlSession] {
                let checks = checks { $0.kind = kind }
                checks.set(Self.schemas, for: "plugin")
                try checks.check(Self.wrong)
            }
            let checks = checks {
                $0.parameters = #"{"path":"x","size":1}"#
                $0.parametersSchema = #"{"properties":{"size":{"maximum":3}}}"#
            }
            checks.set(Self.schemas, for: "plugin")
            try checks.check(Self.wrong)
            #expect(checks.schemas(of: "backup").count == 2)
            #expect(throws: SubmitError.self) {
                try checks.check(Submission(task: "backup", parameters: #"{"size":4}"#))
            }
        }
    }
}

extension ParameterChecks {
    /// Without an account of what it takes.
    fileprivate func check(_ submission: Submission) throws(SubmitError) {
        var steps = 0
        try check(submission, steps: &steps)
    }
}
