// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// `POST /` and `POST /{topic}`: publishes a notification like an ntfy server.
///
/// ntfy has no idempotency keys. Here a repeated `Idempotency-Key` gets the first response again and is
/// recorded as a repeat: a sender with at-least-once delivery needs this.
struct NotificationRoute {
    static let bodyBytesMax = 16 << 10
    static let keyBytesMax = 255
    /// How long an ntfy server keeps a message, seconds.
    static let keepSeconds = 12 * 3600

    let recorder: Recorder
    let now: @Sendable () -> Date

    struct Receipt: Encodable {
        var id: String
        var time: Int
        var expires: Int
        var event = "message"
        var topic: String
        var title: String?
        var message: String
        var priority: Int?
        var tags: [String]?

        init(_ entry: NotificationEntry) {
            id = entry.id
            time = Int(entry.at.timeIntervalSince1970)
            expires = time + NotificationRoute.keepSeconds
            topic = entry.topic
            title = entry.title
            message = entry.message
            priority = entry.priority == 3 ? nil : entry.priority
            tags = entry.tags.isEmpty ? nil : entry.tags
        }
    }

    func post(_ request: Request) async throws -> Response {
        let body = try await body(of: request)
        return try publish(PublishedMessage(json: body), request)
    }

    func post(_ request: Request, topic: String) async throws -> Response {
        let body = try await body(of: request)
        return try publish(
            PublishedMessage(topic: topic, fields: request.headers, body: body),
            request
        )
    }

    private func body(of request: Request) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: Self.bodyBytesMax)
        } catch let error as any HTTPResponseError where error.status == .contentTooLarge {
            throw StationError(
                .contentTooLarge,
                .ntfy(code: 41303),
                "the body may have at most \(Self.bodyBytesMax) bytes"
            )
        }
    }

    private func publish(_ message: PublishedMessage, _ request: Request) throws -> Response {
        let key = request.headers[.idempotencyKey]
        guard key.map({ (1...Self.keyBytesMax).contains($0.utf8.count) }) ?? true else {
            throw StationError(
                .badRequest,
                .ntfy(code: 40000),
                "Idempotency-Key must have 1 to \(Self.keyBytesMax) bytes"
            )
        }
        let entry = NotificationEntry(
            at: now(),
            id: Self.newID(),
            topic: message.topic,
            title: message.title,
            message: message.message,
            priority: message.priority,
            tags: message.tags,
            idempotencyKey: key,
            userAgent: request.userAgent
        )
        switch recorder.add(entry) {
        case .new(let entry), .again(let entry):
            return try .json(Receipt(entry))
        case .conflict:
            throw StationError(
                .unprocessableContent,
                .ntfy(code: 42200),
                "this Idempotency-Key came before with another message"
            )
        }
    }

    /// Creates an id of twelve letters and digits, like ntfy.
    private static func newID() -> String {
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        return String((0..<12).map { _ in alphabet[Int.random(in: alphabet.indices)] })
    }
}

extension Request {
    /// The client's user agent, shortened because the record may contain ten thousand entries.
    var userAgent: String? {
        headers[.userAgent].map { String($0.prefix(200)) }
    }
}
