// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// Delivers notifications through ntfy, or a server that speaks its JSON.
let plugin = Plugin(
    id: "org.bghost.sample.notifier",
    version: "1.0.0",
    vendor: "bghost samples"
) {
    Handler("notifier.deliver", Delivery.self)
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

struct Delivery: TaskHandler {
    /// The address of the server; JSON goes to its root.
    var server: String
    var topic: String
    var title: String?
    var message: String
    /// From 1 to 5; the server's own is 3.
    var priority: Int?
    var tags: [String]?
    /// The same for the same notification, so that a repetition can be told from a second one.
    var id: String?

    struct Result: Encodable {
        var status: Int
        /// What the server calls the message.
        var message: String?
    }

    func run(_ context: TaskContext) async throws -> Result {
        guard let url = URL(string: server) else {
            throw DeliveryError(description: "`server` is not a URL: \(server)")
        }
        var headers = [("Content-Type", "application/json")]
        if let id { headers.append(("Idempotency-Key", id)) }
        let request = FetchRequest(
            url,
            method: "POST",
            headers: headers,
            body: .data(try body()),
            timeout: .seconds(15)
        )
        let response: FetchResponse
        do {
            response = try await context.fetch(request)
        } catch let error as FetchError where error.code == .failed {
            throw RetryLater(error.description)
        }
        if response.isTemporaryFailure {
            throw RetryLater(after: response.retryAfter, "the server answers \(response.status)")
        }
        guard (200...299).contains(response.status) else {
            let reason = String(decoding: response.body.prefix(200), as: UTF8.self)
            throw DeliveryError(description: "the server answers \(response.status): \(reason)")
        }
        context.log(.info, "delivered to \(topic): \(message)")
        let receipt = try? JSONDecoder().decode(Receipt.self, from: response.body)
        return Result(status: response.status, message: receipt?.id)
    }

    private func body() throws -> Data {
        try JSONEncoder().encode(
            Message(topic: topic, title: title, message: message, priority: priority, tags: tags)
        )
    }
}

/// A message in the JSON of ntfy; what is `nil` is left out.
struct Message: Encodable {
    var topic: String
    var title: String?
    var message: String
    var priority: Int?
    var tags: [String]?
}

/// What ntfy answers, as far as it matters here.
struct Receipt: Decodable {
    var id: String
}

struct DeliveryError: Error, CustomStringConvertible {
    let description: String
}
