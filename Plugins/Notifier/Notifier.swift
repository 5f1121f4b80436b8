// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// Tells people what other plugins have to say: through ntfy, webhooks, commands, the desktop and
/// the log.
let plugin = Plugin(
    id: "org.bghost.sample.notifier",
    version: "1.1.0",
    vendor: "bghost samples"
) {
    Handler("notifier.deliver", Delivery.self)
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

/// Delivers one notification to every sink of the plugin's `config`.
///
/// A sink that has taken it is not asked again when another one fails: what is delivered already is
/// noted in the plugin's data directory.
struct Delivery: TaskHandler {
    var notification: Notification

    init(from decoder: any Decoder) throws { notification = try Notification(from: decoder) }

    struct Result: Encodable {
        /// Of HTTP, where there is one sink and it has one.
        var status: Int?
        /// What the server calls the message.
        var message: String?
        /// The sinks that have it, where there are several.
        var sinks: [String]?
    }

    func run(_ context: TaskContext) async throws -> Result {
        let sinks = try sinks(context)
        var sent = SentList(
            notification.key ?? notification.id,
            in: context.dataDirectory,
            warn: { context.log(.warning, $0) }
        )
        var receipts: [Receipt] = []
        var failures: [String] = []
        var retry: RetryLater?
        let names = Self.names(sinks)
        for (sink, name) in zip(sinks, names) where !sent.contains(name) {
            do {
                receipts.append(try await sink.send(notification, context))
                if sinks.count > 1 { sent.add(name) }
                context.log(.info, "\(name) has it: \(notification.headline)")
            } catch let error as RetryLater {
                retry = error
                failures.append("\(name): \(error.reason)")
            } catch {
                failures.append("\(name): \(error)")
                if error is CancellationError { throw error }
            }
        }
        let reason = failures.joined(separator: "; ")
        if let retry { throw RetryLater(after: retry.after, reason) }
        guard failures.isEmpty else { throw DeliveryError(description: reason) }
        sent.remove()
        let only = sinks.count == 1 ? receipts.first : nil
        return Result(
            status: only?.status,
            message: only?.message,
            sinks: sinks.count > 1 ? names : nil
        )
    }

    /// The names of sinks, with a number where an earlier one has the same name.
    private static func names(_ sinks: [any Sink]) -> [String] {
        var counts: [String: Int] = [:]
        return sinks.map { sink in
            let count = counts[sink.name, default: 0] + 1
            counts[sink.name] = count
            return count == 1 ? sink.name : "\(sink.name) (\(count))"
        }
    }

    private func sinks(_ context: TaskContext) throws -> [any Sink] {
        // A task may name a server of its own.
        if let server = notification.server, let topic = notification.topic {
            return [NtfySink(server: server, topic: topic)]
        }
        let settings: Settings = try context.configuration()
        guard !settings.sinks.isEmpty else {
            throw DeliveryError(
                description: "no destination is configured: add `sinks` to the plugin's `config`"
            )
        }
        return settings.sinks.map(\.sink)
    }
}

/// What a sink says of what it took.
struct Receipt: Sendable {
    var status: Int?
    var message: String?
}

struct DeliveryError: Error, CustomStringConvertible {
    let description: String
}
