// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird

/// The routes for questions about the audit.
struct AuditRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.audit) { request, _ in try await rows(request) }
        endpoints.on(.checkAudit) { request, _ in try await check(request) }
    }

    private func rows(_ request: Request) async throws -> Response {
        let question = try Query(request).auditQuestion()
        let page: AuditPage
        do throws(OperatorRefusal) {
            page = try await host.audit(question)
        } catch {
            throw ControlFault(error)
        }
        return Answer.json(Schema.audit, API.AuditRows(page))
    }

    private func check(_ request: Request) async throws -> Response {
        var head: AuditHead?
        if let text = Query(request).text("head") {
            head = AuditHead(text: text)
            guard head != nil else {
                throw ControlFault(
                    .badRequest,
                    "`\(TerminalText.escaped(String(text.prefix(80))))` is no head of the audit",
                    fix: "give the number and the sum as the log has them, such as `812:9f2c…`"
                )
            }
        }
        let verdict: AuditVerdict
        do throws(OperatorRefusal) {
            verdict = try await host.checkAudit(expecting: head)
        } catch {
            throw ControlFault(error)
        }
        return Answer.json(Schema.auditCheck, API.AuditCheck(verdict))
    }
}

extension Endpoint {
    /// The keys of `GET /v1/audit`; those that are given must all hold.
    static let auditKeys: [QueryKey] = [
        QueryKey("since", "Only what was done at this time or later, as in `GET /v1/runs`."),
        QueryKey("until", "Only what was done before this time."),
        QueryKey(
            "actor",
            "Only by this user, by name or number, by this session, or this way, such as `web`."
        ),
        QueryKey("verb", "Only this verb, such as `trigger`."),
        QueryKey("target", "Only what concerns this; with `*` at its end, what begins like this."),
        QueryKey("changes", "`true`: only rows that are `stored` or `done`, without logins."),
        QueryKey("before", "Only rows before this number: `next` of the page before."),
        QueryKey("after", "Only rows after this number, the oldest first."),
        .limit(ControlLimits.runsMax, default: ControlLimits.runsUsual),
    ]
}

extension Query {
    /// The question of `GET /v1/audit`.
    fileprivate func auditQuestion() throws(ControlFault) -> AuditQuestion {
        var query = AuditQuery(
            limit: try number("limit", in: 1...ControlLimits.runsMax) ?? ControlLimits.runsUsual
        )
        query.before = try number("before", in: 0...Int.max).map(Int64.init)
        query.after = try number("after", in: 0...Int.max).map(Int64.init)
        query.actor = text("actor")
        query.verb = text("verb")
        query.target = text("target")
        query.onlyChanges = try flag("changes")
        return AuditQuestion(query, since: text("since"), until: text("until"))
    }
}
