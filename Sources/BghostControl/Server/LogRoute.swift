// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

/// `GET /v1/logs`: one object, or with `follow=true` one line of JSON for each log entry.
struct LogRoute: Sendable {
    let host: any HostControl
    let followers: FollowerSlots

    /// Whether the client of a request has to be known, to count its streams.
    static func needsCaller(_ request: Request) -> Bool {
        // As the router reads it, which leaves out empty parts.
        request.uri.path.split(separator: "/") == ["v1", "logs"]
    }

    func answer(_ request: Request, _ context: ControlContext) async throws -> Response {
        let query = Query(request)
        let filter = try await filter(query)
        let limit =
            try query.number("limit", in: 0...ControlLimits.logLinesMax)
            ?? ControlLimits.logLinesUsual
        guard try query.flag("follow") else {
            let question = LogQuestion(
                filter,
                since: query.text("since"),
                until: query.text("until"),
                before: try position(query),
                limit: limit
            )
            return try await page(question)
        }
        for key in ["since", "until", "before"] where query.text(key) != nil {
            throw ControlFault.badRequest(
                "`\(key)` does not go with `follow`: ask for the lines from before first"
            )
        }
        try await check(filter)
        let presence = await ClientPresence.of(context.channel)
        return follow(filter, limit, presence, try followers.take(for: context.caller))
    }

    private func page(_ question: LogQuestion) async throws -> Response {
        let page: LogPage
        do throws(OperatorRefusal) {
            page = try await host.searchLogs(question)
        } catch {
            throw ControlFault(error)
        }
        // The files may have lines of a task, or of a run, that the daemon does not know any more.
        if page.entries.isEmpty, page.next == nil { try await check(question.filter) }
        return Answer.json(Schema.logs, API.LogLines(page))
    }

    private func position(_ query: Query) throws(ControlFault) -> LogPosition? {
        guard let text = query.text("before") else { return nil }
        guard let position = LogPosition(text) else {
            throw .badRequest("`before` must be `next` of an answer")
        }
        return position
    }

    private func follow(
        _ filter: LogFilter,
        _ limit: Int,
        _ presence: ClientPresence,
        _ lease: FollowerSlots.Lease
    ) -> Response {
        let body = ResponseBody { writer in
            // Without it, the lease ends with the body, which may never be written.
            defer { lease.end() }
            let log = await host.followLogs(matching: filter, limit: limit)
            let number = presence.onLeave { log.end() }
            defer { presence.forget(number) }
            // What was written before the daemon stops is shown.
            try await withGracefulShutdownHandler {
                for await entry in log.lines {
                    let line = APICoder.json(API.LogLine(entry)) + [UInt8(ascii: "\n")]
                    try await writer.write(ByteBuffer(bytes: line))
                }
            } onGracefulShutdown: {
                log.end()
            }
            // A client that has seen the end may ask again.
            lease.end()
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: body
        )
    }

    /// Accepts a task that is in the manifest or still has entries in the log, and a run that is known.
    private func check(_ filter: LogFilter) async throws(ControlFault) {
        if let run = filter.run { _ = try await RunLookup(host: host).run(run.description) }
        guard let task = filter.task else { return }
        let lines = await host.logs(matching: LogFilter(task: task), limit: 1)
        if lines.isEmpty { try await TaskLookup(host: host).check(task) }
    }

    private func filter(_ query: Query) async throws(ControlFault) -> LogFilter {
        var filter = LogFilter(task: query.text("task"), plugin: query.text("plugin"))
        filter.text = query.text("text")
        if let name = query.text("level") {
            guard let level = LogEntry.Level(text: name) else {
                throw .badRequest(
                    "`level` must be one of "
                        + LogEntry.Level.allCases.map(\.text).joined(separator: ", ")
                )
            }
            filter.level = level
        }
        if let prefix = query.text("run") {
            // A whole id may be that of a run that only the log still has.
            if let run = RunID(prefix) {
                filter.run = run
            } else {
                filter.run = try await RunLookup(host: host).run(prefix).id
            }
        }
        return filter
    }
}
