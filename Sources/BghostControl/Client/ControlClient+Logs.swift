// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostModel
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// A query for log entries, as typed by the operator.
    package struct LogQuery: Equatable, Sendable {
        package var task: String?
        /// A prefix of a run's id.
        package var run: String?
        var plugin: String?
        var level: LogEntry.Level?
        var text: String?
        package var since: String?
        package var until: String?
        /// The `next` of the last page.
        package var before: String?
        package var limit: Int?

        package init(
            task: String? = nil,
            run: String? = nil,
            plugin: String? = nil,
            level: LogEntry.Level? = nil,
            text: String? = nil,
            since: String? = nil,
            until: String? = nil,
            before: String? = nil,
            limit: Int? = nil
        ) {
            self.task = task
            self.run = run
            self.plugin = plugin
            self.level = level
            self.text = text
            self.since = since
            self.until = until
            self.before = before
            self.limit = limit
        }

        var path: ControlPath {
            ControlPath("logs").with("task", task).with("run", run).with("plugin", plugin)
                .with("level", level?.text).with("text", text).with("since", since)
                .with("until", until).with("before", before).with("limit", limit)
        }
    }

    /// A page of the log, the oldest entry first.
    package func logs(_ query: LogQuery) async throws -> Answer<API.LogLines> {
        try await call(.GET, query.path, within: .minutes(2), Schema.logs)
    }

    /// Calls the closure with each entry in the log and each new one, until the daemon stops, the closure
    /// throws, or the calling task is cancelled.
    package func followLogs(
        _ query: LogQuery,
        _ body: (Answer<LogEntry>) throws -> Void
    ) async throws {
        let path = query.path.with("follow", true)
        let response = try await send(.GET, path, within: .hours(24 * 365))
        guard response.status.code == 200 else {
            let answer = try await response.body.collect(upTo: Self.answerBytesMax)
            let bytes = Array(answer.readableBytesView)
            // A body that is not JSON is reported as unreadable.
            let fault = (try? APICoder.parsed(bytes)).flatMap {
                ControlFault(answer: bytes, parsed: $0)
            }
            throw fault ?? unreadable(response.headers.first(name: Self.versionField))
        }
        var lines = LineSplitter()
        var parts = response.body.makeAsyncIterator()
        while let part = try await next(&parts) {
            for line in lines.lines(adding: part.readableBytesView) {
                // A line that is not JSON, or is no log entry, is reported as unreadable.
                guard let json = try? JSONReader.parse(line),
                    let parsed = try? APICoder.value(API.LogLine.self, from: line, parsed: json)
                else { throw unreadable(response.headers.first(name: Self.versionField)) }
                try body(Answer(value: parsed.entry, json: json.text))
            }
            guard lines.pendingBytes <= Self.answerBytesMax else { throw unreadable(nil) }
        }
    }

    private func next(
        _ parts: inout HTTPClientResponse.Body.AsyncIterator
    ) async throws -> ByteBuffer? {
        do {
            return try await parts.next()
        } catch {
            throw fault(of: error)
        }
    }
}

/// Splits a stream of bytes into lines.
struct LineSplitter {
    private var rest: [UInt8] = []

    /// The length of the line that is not complete yet, bytes.
    var pendingBytes: Int { rest.count }

    /// The lines that these bytes complete, without their line breaks.
    mutating func lines(adding bytes: some Collection<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for piece in bytes.split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        ).enumerated() {
            if piece.offset > 0 {
                lines.append(rest)
                rest = []
            }
            rest += piece.element
        }
        return lines
    }
}
