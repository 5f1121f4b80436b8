// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import Hummingbird

/// The routes with which an operator controls requests, runs and plugins.
struct OperatorRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.pending) { request, _ in try await pending(request) }
        endpoints.on(.cancelAll) { request, _ in try await cancel(.all, request) }
        endpoints.on(.cancel) { request, context in
            try await cancel(.task(context.parameters.require("id")), request)
        }
        endpoints.on(.cancelTag) { request, context in
            try await cancel(.tag(context.parameters.require("name")), request)
        }
        endpoints.on(.stop) { _, context in
            try await stop(context.parameters.require("id"))
        }
        endpoints.on(.dead) { request, _ in try await dead(request) }
        endpoints.on(.redrive) { request, _ in
            try await change(request, Schema.redrive) { choice, expected throws(OperatorRefusal) in
                try await host.redrive(choice, expected: expected)
            }
        }
        endpoints.on(.discard) { request, _ in
            try await change(request, Schema.discard) { choice, expected throws(OperatorRefusal) in
                try await host.discard(choice, expected: expected)
            }
        }
        endpoints.on(.throttle) { request, _ in try await throttles(request) }
        endpoints.on(.clearThrottle) { _, context in
            try await clearThrottle(context.parameters.require("id"))
        }
        endpoints.on(.uses) { request, _ in try await uses(request) }
        endpoints.on(.addUse) { _, context in
            let task = try context.parameters.require("id")
            return try await use { () throws(OperatorRefusal) in try await host.use(task: task) }
        }
        endpoints.on(.clearUses) { _, context in
            let task = try context.parameters.require("id")
            return try await use { () throws(OperatorRefusal) in
                try await host.forgetUses(task: task)
            }
        }
        endpoints.on(.disable) { request, context in
            try await disable(context.parameters.require("name"), request)
        }
        endpoints.on(.enable) { _, context in
            try await enable(context.parameters.require("name"))
        }
        DrainRoutes(host: host).add(to: endpoints)
        FleetRoutes(host: host).add(to: endpoints)
        PauseRoutes(host: host).add(to: endpoints)
        endpoints.on(.reload) { request, _ in try await reload(request) }
        endpoints.on(.backup) { request, _ in try await backUp(request) }
    }

    // MARK: - Pending requests

    private func pending(_ request: Request) async throws -> Response {
        let question = try Query(request).pendingQuestion()
        let list = try await ask { () throws(OperatorRefusal) in try await host.pending(question) }
        // The page behind the last one is empty, whatever became of the task.
        if list.requests.isEmpty, list.next == nil, question.cursor == nil,
            let task = question.tasks?.task
        {
            try await TaskLookup(host: host).check(task)
        }
        // The host lists tasks in the order of their first use; sorting them is no work for its thread.
        let requests = list.requests.enumerated().sorted {
            ($0.element.task, $0.offset) < ($1.element.task, $1.offset)
        }
        return Answer.json(
            Schema.pending,
            API.PendingRequests(
                requests: requests.map { API.Request($0.element) },
                total: list.total,
                next: list.next
            )
        )
    }

    private func cancel(_ which: Withdrawal, _ request: Request) async throws -> Response {
        let expected = try expected(Query(request))
        let withdrawn = try await ask { () throws(OperatorRefusal) in
            try await host.cancelPending(which, expected: expected)
        }
        var task: String?
        switch which {
        case .all: break
        case .task(let name):
            task = name
            guard withdrawn.isEmpty else { break }
            try await TaskLookup(host: host).check(name)
            throw ControlFault(.nothingPending, "no request of \(name) is waiting")
        case .tag(let tag):
            guard withdrawn.isEmpty else { break }
            throw ControlFault(
                .nothingPending,
                "no request of a task with the tag \(TerminalText.escaped(tag)) is waiting"
            )
        }
        return Answer.json(
            Schema.cancel,
            API.Withdrawn(
                task: task,
                cancelled: !withdrawn.isEmpty,
                count: withdrawn.count,
                requests: Self.head(of: withdrawn).map(API.Request.init)
            )
        )
    }

    /// The first requests, as many as one response can contain.
    private static func head(of requests: [PendingRequest]) -> [PendingRequest] {
        var room = ControlLimits.parametersBytesMax
        return Array(
            requests.prefix(ControlLimits.pendingMax).prefix { request in
                room -= request.parameters.utf8.count
                return room >= 0
            }
        )
    }

    // MARK: - Runs

    private func stop(_ prefix: String) async throws -> Response {
        let run = try await RunLookup(host: host).runUnderWay(prefix)
        guard await host.stop(run: run.id) else { throw RunLookup.notUnderWay(run) }
        return Answer.json(
            Schema.stop,
            API.CancelledRun(run)
        )
    }

    // MARK: - Dead letters

    private func dead(_ request: Request) async throws -> Response {
        let question = try Query(request).deadLetterQuestion()
        let page = try await ask { () throws(OperatorRefusal) in
            try await host.deadLetters(question)
        }
        // A task that is no longer in the manifest may have dead letters.
        if page.letters.isEmpty, page.next == nil, question.cursor == nil,
            let task = question.tasks?.task
        {
            try await TaskLookup(host: host).check(task)
        }
        return Answer.json(
            Schema.dead,
            API.DeadLetters(
                deadLetters: page.letters.map(API.DeadLetter.init),
                next: page.next.map { PageCursor.dead(diedAt: $0.diedAt, run: $0.run).text }
            )
        )
    }

    private func change(
        _ request: Request,
        _ schema: AnswerSchema<DeadLetterChange>,
        _ change: (DeadLetterChoice, Int?) async throws(OperatorRefusal) -> DeadLetterChange
    ) async throws -> Response {
        let choice = try choice(Query(request))
        let expected = try expected(Query(request))
        let answer = try await ask { () throws(OperatorRefusal) in
            try await change(choice, expected)
        }
        if case .task(let task) = choice, answer.done.isEmpty, answer.refused.isEmpty {
            try await TaskLookup(host: host).check(task)
            throw ControlFault(.nothingDead, "there is no dead letter of \(task)")
        }
        return Answer.json(schema, answer)
    }

    /// How many the caller was shown; `nil` if it does not say.
    private func expected(_ query: Query) throws(ControlFault) -> Int? {
        try query.number("expected", in: 0...ControlLimits.expectedMax)
    }

    /// Exactly one of `request`, `task` and `all` is required; a default could change too many requests.
    private func choice(_ query: Query) throws(ControlFault) -> DeadLetterChoice {
        switch (query.text("request"), query.text("task"), try query.flag("all")) {
        case (let prefix?, nil, false): .request(prefix: prefix)
        case (nil, let task?, false): .task(task)
        case (nil, nil, true): .all
        default: throw .badRequest("give exactly one of `request`, `task` and `all=true`")
        }
    }

    // MARK: - Throttling

    private func throttles(_ request: Request) async throws -> Response {
        let task = Query(request).text("task")
        if let task { try await TaskLookup(host: host).check(task) }
        let throttles = await host.throttles(task: task)
        return Answer.json(Schema.throttle, API.Throttles(tasks: throttles))
    }

    private func clearThrottle(_ task: String) async throws -> Response {
        try await TaskLookup(host: host).check(task)
        let owed = try await ask { () throws(OperatorRefusal) in
            try await host.clearThrottle(task: task)
        }
        return Answer.json(
            Schema.throttleClear,
            API.ClearedThrottle(task: owed.task, points: owed.points)
        )
    }

    // MARK: - Uses

    private func uses(_ request: Request) async throws -> Response {
        let task = Query(request).text("task")
        let uses = await host.uses(task: task)
        if uses.isEmpty, let task { try await TaskLookup(host: host).check(task) }
        return Answer.json(Schema.uses, API.Uses(tasks: uses))
    }

    private func use(
        _ change: () async throws(OperatorRefusal) -> UseStatus
    ) async throws -> Response {
        let status = try await ask(change)
        return Answer.json(Schema.use, status)
    }

    // MARK: - Plugins

    private func disable(_ plugin: String, _ request: Request) async throws -> Response {
        let query = Query(request)
        let reason = query.text("reason") ?? ""
        guard reason.utf8.count <= ControlLimits.reasonBytesMax else {
            throw ControlFault.badRequest(
                "the reason is longer than \(ControlLimits.reasonBytesMax) bytes"
            )
        }
        let stopsRuns = try query.flag("stop")
        let answer = try await ask { () throws(OperatorRefusal) in
            try await host.disable(plugin: plugin, reason: reason, stopsRuns: stopsRuns)
        }
        return Answer.json(Schema.pluginSwitch, answer)
    }

    private func enable(_ plugin: String) async throws -> Response {
        let answer = try await ask { () throws(OperatorRefusal) in
            try await host.enable(plugin: plugin)
        }
        return Answer.json(Schema.pluginSwitch, answer)
    }

    // MARK: - The manifest

    private func reload(_ request: Request) async throws -> Response {
        let isDryRun = try Query(request).flag("dryRun")
        let report = try await ask { () throws(OperatorRefusal) in
            isDryRun ? try await host.dryReload() : try await host.reload()
        }
        return Answer.json(Schema.reload, report)
    }

    // MARK: - Backups

    private func backUp(_ request: Request) async throws -> Response {
        let query = Query(request)
        guard let folder = query.text("folder") else {
            throw ControlFault.badRequest("`folder` is missing")
        }
        let includesData = try query.flag("data")
        let report = try await ask { () throws(OperatorRefusal) in
            try await host.backUp(to: folder, includesData: includesData)
        }
        return Answer.json(
            Schema.backup,
            API.Backup(folder: folder, bytes: report.bytes, omitted: report.omitted)
        )
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
