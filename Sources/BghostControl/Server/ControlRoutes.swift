// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import Glibc
internal import Hummingbird
internal import NIOCore

/// The routes of the control API.
struct ControlRoutes: Sendable {
    typealias Context = ControlContext

    /// Where clients connect.
    enum Entrance {
        case socket
        case dashboard
    }

    let host: any HostControl
    var notifications: (any NotificationControl)?
    var dashboard: Dashboard?
    var limits = ControlLimits()
    var onFault: @Sendable (Endpoint, FaultCode) -> Void = { _, _ in }

    func router(for entrance: Entrance = .socket) -> Router<Context> {
        let router = Router(context: Context.self)
        router.addMiddleware {
            switch entrance {
            case .socket:
                Envelope(audit: VerbAudit(audit: host), way: .socket) {
                    request throws(ControlFault) in try ForeignPage.check(request)
                }
            case .dashboard:
                Envelope(audit: VerbAudit(audit: host), way: .dashboard) {
                    request throws(ControlFault) in try DashboardGuard.checkContent(request)
                }
            }
        }
        let meter = dashboard?.meter ?? RequestMeter()
        let endpoints = EndpointRouter(
            router: router,
            audit: VerbAudit(audit: host),
            meter: meter,
            onVerb: { [dashboard] in dashboard?.status.end() },
            onFault: onFault
        )
        endpoints.on(.version) { _, _ in version() }
        let shared = entrance == .dashboard ? dashboard?.status : nil
        endpoints.on(.status) { request, _ in try await status(request, shared) }
        endpoints.on(.submit) { request, _ in try await submit(request) }
        endpoints.on(.trigger) { request, context in
            try await trigger(request, context)
        }
        endpoints.on(.runOfRequest) { request, context in
            try await run(ofRequest: context.parameters.require("id"), context)
        }
        endpoints.on(.run) { _, context in
            var run = try await RunLookup(host: host).run(context.parameters.require("id"))
            run.details = RunDetails(
                crash: run.details?.crash,
                error: run.details?.error,
                output: await host.output(ofRun: run.id),
                checkpoint: await host.checkpoint(ofRequest: run.request)
            )
            return Answer.json(Schema.run, API.RunAnswer(run: API.Run(run)))
        }
        endpoints.on(.expire) { _, context in
            try await expire(context.parameters.require("id"))
        }
        HealthRoutes(host: host, answerTime: limits.answerTime).add(to: endpoints)
        MetricsRoute(host: host, meter: meter).add(to: endpoints)
        OperatorRoutes(host: host).add(to: endpoints)
        SimulationRoutes(host: host).add(to: endpoints)
        PastRoutes(host: host).add(to: endpoints)
        AuditRoutes(host: host).add(to: endpoints)
        AlertRoutes(host: host).add(to: endpoints)
        if let notifications {
            NotificationRoutes(notifications: notifications).add(to: endpoints)
        }
        CheckpointRoutes(host: host).add(to: endpoints)
        TransferRoutes(host: host).add(to: endpoints)
        let logs = LogRoute(host: host, followers: dashboard?.followers ?? FollowerSlots())
        endpoints.on(.logs) { request, context in
            try await logs.answer(request, context)
        }
        DashboardRoutes(dashboard: dashboard).add(to: endpoints, for: entrance)
        return router
    }

    // MARK: - The daemon

    private func version() -> Response {
        Answer.json(Schema.version, API.Version(version: BghostVersion.text, pid: getpid()))
    }

    /// - Parameter shared: the answer of all tasks that other pages may have; `nil` for clients that want
    ///   their own.
    private func status(_ request: Request, _ shared: SharedAnswer?) async throws -> Response {
        let tasks = Query(request).texts("task")
        guard tasks.count <= ControlLimits.namesMax else {
            throw ControlFault.badRequest("at most \(ControlLimits.namesMax) tasks can be named")
        }
        guard let shared, tasks.isEmpty else {
            return Answer.json(try await statusBytes(of: tasks))
        }
        return Answer.json(try await shared.bytes { try await statusBytes(of: []) })
    }

    /// - Parameter tasks: none for all.
    private func statusBytes(of tasks: [String]) async throws -> ByteBuffer {
        var status: HostStatus
        do throws(OperatorRefusal) {
            status = tasks.isEmpty ? await host.status() : try await host.status(of: tasks)
        } catch {
            throw ControlFault(error)
        }
        // On this thread: the reactor's thread reads no files.
        for index in status.plugins.indices where !status.plugins[index].workers.isEmpty {
            let memory = status.plugins[index].workers.compactMap(ProcessMemory.resident)
            status.plugins[index].memoryBytes = memory.isEmpty ? nil : memory.reduce(0, +)
        }
        return Answer.bytes(Schema.status, API.Status(status))
    }

    // MARK: - Requests

    private func submit(_ request: Request) async throws -> Response {
        let submission = try await submission(request, task: nil)
        let pending = try await accept { () throws(SubmitError) in
            try await host.submit(submission)
        }
        return Self.accepted(pending)
    }

    private func trigger(_ request: Request, _ context: ControlContext) async throws -> Response {
        let waits = try Query(request).flag("wait")
        let submission = try await submission(request, task: context.parameters.require("id"))
        let pending = try await accept { () throws(SubmitError) in
            try await host.trigger(submission)
        }
        guard waits else { return Self.accepted(pending) }
        return try await endedRun(ofRequest: pending.id, context)
    }

    private static func accepted(_ request: PendingRequest) -> Response {
        Answer.json(
            Schema.request,
            status: .accepted,
            API.RequestAnswer(request: API.Request(request))
        )
    }

    private func run(
        ofRequest text: String,
        _ context: ControlContext
    ) async throws -> Response {
        guard let id = RunID(text) else {
            throw ControlFault.badRequest(
                "`\(TerminalText.escaped(text))` is not the id of a request"
            )
        }
        return try await endedRun(ofRequest: id, context)
    }

    private func endedRun(ofRequest id: RunID, _ context: ControlContext) async throws -> Response {
        // If the client disconnects, the connection is released at once, and the run continues.
        let run = try await ClientPresence.of(context.channel).whilePresent { [host] in
            try await RunWait(host: host).run(ofRequest: id)
        }
        guard let run else {
            // The request was accepted, so this is its answer and no refusal.
            return Answer.fault(
                ControlFault(.endedWithoutRun, "the request \(id) ended without a run")
            )
        }
        return Answer.json(Schema.run, API.RunAnswer(run: API.Run(run)))
    }

    private func submission(_ request: Request, task: String?) async throws -> Submission {
        if let task, !IdentifierPattern.isValid(task) {
            throw ControlFault(
                .notPermitted,
                "`\(TerminalText.escaped(task))` cannot be the name of a task"
            )
        }
        let body = try await request.wholeBody(bytesMax: ControlLimits.bodyBytesMax)
        AuditScope.concerns(task, body: body)
        var submission = try API.SubmitBody.read(Array(body.readableBytesView))
            .submission(path: task)
        if submission.trace == nil { submission.trace = TraceContext(headersOf: request) }
        if task == nil { AuditScope.concerns(submission.task, body: body) }
        return submission
    }

    private func accept(
        _ body: () async throws(SubmitError) -> PendingRequest
    ) async throws(ControlFault) -> PendingRequest {
        do {
            return try await body()
        } catch {
            throw ControlFault(error)
        }
    }

    // MARK: - Runs

    private func expire(_ prefix: String) async throws -> Response {
        let run = try await RunLookup(host: host).runUnderWay(prefix)
        guard await host.expire(run: run.id) else { throw RunLookup.notUnderWay(run) }
        return Answer.json(
            Schema.expire,
            API.CancelledRun(run)
        )
    }
}
