// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import FoundationEssentials

/// A destination of notifications.
protocol Sink: Sendable {
    /// The same from run to run, and no secret; several sinks may have the same.
    var name: String { get }

    /// - Throws: `RetryLater` if it may work another time.
    func send(_ notification: Notification, _ context: TaskContext) async throws -> Receipt
}

/// The plugin's `config` of `tasks.json`.
struct Settings: Decodable {
    var sinks: [Choice] = []

    enum CodingKeys: String, CodingKey { case sinks }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        sinks = try values.decodeIfPresent([Choice].self, forKey: .sinks) ?? []
    }

    /// One entry of `sinks`, told apart by its `type`.
    struct Choice: Decodable {
        let sink: any Sink

        private enum CodingKeys: String, CodingKey { case type }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let type = try values.decode(String.self, forKey: .type)
            switch type {
            case "ntfy": sink = try NtfySink(from: decoder)
            case "webhook": sink = try WebhookSink(from: decoder)
            case "exec": sink = try CommandSink(from: decoder)
            case "desktop": sink = try DesktopSink(from: decoder)
            case "log": sink = LogSink()
            default:
                throw DeliveryError(
                    description: "`\(type)` is no type of a sink; there are ntfy, webhook, exec,"
                        + " desktop and log"
                )
            }
        }
    }
}

/// The daemon's log, as `bghost logs` shows it.
struct LogSink: Sink {
    var name: String { "log" }

    func send(_ notification: Notification, _ context: TaskContext) async throws -> Receipt {
        let parts = [notification.title, notification.text].compactMap { $0 }
        let level: LogLevel = notification.level == "critical" ? .warning : .info
        context.log(level, parts.joined(separator: ": "))
        return Receipt()
    }
}

extension FetchResponse {
    /// Fails as the answer of a sink should.
    func check() throws {
        if isTemporaryFailure {
            throw RetryLater(after: retryAfter, "the server answers \(status)")
        }
        guard (200...299).contains(status) else {
            let reason = String(decoding: body.prefix(200), as: UTF8.self)
            throw DeliveryError(description: "the server answers \(status): \(reason)")
        }
    }
}

extension TaskContext {
    /// Sends JSON to a server.
    func post(_ body: Data, to address: String, headers: [(String, String)]) async throws
        -> FetchResponse
    {
        guard let url = URL(string: address) else {
            throw DeliveryError(description: "this is no URL: \(address)")
        }
        let request = FetchRequest(
            url,
            method: "POST",
            headers: [("Content-Type", "application/json")] + headers,
            body: .data(body),
            timeout: .seconds(15)
        )
        do {
            return try await fetch(request)
        } catch let error as FetchError where error.code == .failed {
            throw RetryLater(error.description)
        }
    }
}
