// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostModel
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// A page of the audit.
    package func audit(_ question: AuditQuestion) async throws -> Answer<API.AuditRows> {
        let query = question.query
        let path = ControlPath("audit").with("since", question.since).with("until", question.until)
            .with("actor", query.actor).with("verb", query.verb).with("target", query.target)
            .with("changes", query.onlyChanges ? true : nil)
            .with("before", query.before).with("after", query.after).with("limit", query.limit)
        return try await call(.GET, path, Schema.audit)
    }

    /// Compares the whole chain of the audit.
    ///
    /// - Parameter head: a number and a sum of the log; `nil` if none is known.
    package func checkAudit(head: String?) async throws -> Answer<API.AuditCheck> {
        let path = ControlPath("audit", "check").with("head", head)
        // Millions of rows take long.
        return try await call(.GET, path, within: .hours(1), Schema.auditCheck)
    }
}
