// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

/// `GET /v1/logs`: one object, or with `follow=true` one line of JSON for each log entry.
struct LogRoute: Sendable {
    let host: any HostControl

    func answer(_ request: Request) async throws -> Response {
        let query = Query(request)
        let filter = try await filter(query)
        let limit =
            try query.number("limit", in: 0...ControlLimits.logLinesMax)
            ?? ControlLimits.logLinesUsual
        try await checkTask(filter)
        guard try query.flag("follow") else {
            let entries = await host.logs(matching: filter, limit: limit)
            return Answer.json(Schema.logs, API.LogLines(entries: entries.map(API.LogLine.init)))
        }
        return follow(request, filter, limit)
    }

    private func follow(_ request: Request, _ filter: LogFilter, _ limit: Int) -> Response {
        let body = ResponseBody { writer in
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                let entries = await host.followLogs(matching: filter, limit: limit)
                for await entry in entries.cancelOnGracefulShutdown() {
                    let line = APICoder.json(API.LogLine(entry)) + [UInt8(ascii: "\n")]
                    try await writer.write(ByteBuffer(bytes: line))
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: body
        )
    }

    /// Accepts a task that is in the manifest, or that still has entries in the log.
    private func checkTask(_ filter: LogFilter) async throws(ControlFault) {
        guard let task = filter.task else { return }
        let lines = await host.logs(matching: LogFilter(task: task), limit: 1)
        if lines.isEmpty { try await TaskLookup(host: host).check(task) }
    }

    private func filter(_ query: Query) async throws(ControlFault) -> LogFilter {
        var filter = LogFilter(task: query.text("task"), plugin: query.text("plugin"))
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
            filter.run = try await RunLookup(host: host).run(prefix).id
        }
        return filter
    }
}
