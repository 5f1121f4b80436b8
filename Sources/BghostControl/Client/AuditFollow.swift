// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostModel

/// Asks for new rows until it is cancelled.
package struct AuditFollow {
    /// The interval between questions.
    private static let period = Duration.seconds(1)

    private var question: AuditQuestion

    package init(last: Int64, _ question: AuditQuestion) {
        self.question = question
        self.question.query.before = nil
        self.question.query.after = last
        self.question.query.limit = ControlLimits.runsMax
    }

    package mutating func run(_ client: ControlClient, _ show: ([API.AuditRow]) -> Void)
        async throws
    {
        while true {
            let answer = try await client.audit(question).value
            show(answer.rows)
            question.query.after = answer.next ?? max(answer.newest, question.query.after ?? 0)
            if answer.next == nil { try await Task.sleep(for: Self.period) }
        }
    }
}
