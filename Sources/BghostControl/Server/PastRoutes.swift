// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird

/// The routes for what happened, and for what comes.
struct PastRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.runs) { request, _ in try await runs(request) }
        endpoints.on(.starts) { request, _ in try await starts(request) }
        endpoints.on(.days) { request, _ in try await days(request) }
        endpoints.on(.past) { request, _ in try await past(request) }
        endpoints.on(.plan) { request, _ in try await plan(request) }
    }

    private func runs(_ request: Request) async throws -> Response {
        let question = try Query(request).runQuestion()
        let page = try await ask { () throws(OperatorRefusal) in try await host.runs(question) }
        if page.entries.isEmpty, let task = question.query.filter.task {
            try await TaskLookup(host: host).check(task)
        }
        return Answer.json(Schema.runs, API.RunList(page))
    }

    private func starts(_ request: Request) async throws -> Response {
        let question = try Query(request).startQuestion()
        let page = try await ask { () throws(OperatorRefusal) in
            try await host.skippedStarts(question)
        }
        if page.starts.isEmpty, page.next == nil, question.cursor == nil,
            let task = question.tasks?.task
        {
            try await TaskLookup(host: host).check(task)
        }
        return Answer.json(
            Schema.starts,
            API.StartList(
                starts: page.starts.map { API.SkippedStart($0) },
                next: page.next.map { PageCursor.starts(due: $0.due, number: $0.number).text }
            )
        )
    }

    private func days(_ request: Request) async throws -> Response {
        let question = try Query(request).dayQuestion()
        let page = try await ask { () throws(OperatorRefusal) in try await host.runDays(question) }
        if page.rows.isEmpty, page.next == nil, question.cursor == nil,
            let task = question.tasks?.task
        {
            try await TaskLookup(host: host).check(task)
        }
        return Answer.json(Schema.days, API.RunDays(page))
    }

    private func past(_ request: Request) async throws -> Response {
        let query = Query(request)
        guard let task = query.text("task"), let time = query.text("at") else {
            throw ControlFault.badRequest("`task` and `at` are needed")
        }
        let past = try await ask { () throws(OperatorRefusal) in
            try await host.past(task: task, at: time)
        }
        return Answer.json(Schema.past, API.Past(past))
    }

    private func plan(_ request: Request) async throws -> Response {
        let question = try Query(request).planQuestion()
        let plan = try await ask { () throws(OperatorRefusal) in try await host.plan(question) }
        return Answer.json(Schema.plan, plan)
    }

    private func ask<Value>(
        _ body: () async throws(OperatorRefusal) -> Value
    ) async throws(ControlFault) -> Value {
        do {
            return try await body()
        } catch {
            throw ControlFault(error)
        }
    }
}
