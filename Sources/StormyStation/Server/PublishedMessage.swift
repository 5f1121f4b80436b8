// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// A published message in either of ntfy's two forms, checked.
struct PublishedMessage: Equatable {
    static let messageBytesMax = 4096
    static let titleBytesMax = 1024
    static let tagsMax = 16

    var topic: String
    var title: String?
    var message: String
    var priority: Int
    var tags: [String]

    /// Parses the form with one JSON object, sent to the root.
    init(json: ByteBuffer) throws(StationError) {
        struct Body: Decodable {
            var topic: String?
            var title: String?
            var message: String?
            var priority: Int?
            var tags: [String]?
        }
        // ntfy's own answer has no detail either.
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(json.readableBytesView))
        else {
            throw Self.refusal(40024, "invalid request: request body must be valid JSON")
        }
        try self.init(
            topic: body.topic ?? "",
            title: body.title,
            message: body.message ?? "",
            priority: body.priority ?? 3,
            tags: body.tags ?? []
        )
    }

    /// Parses the form with the message as the body and the rest in header fields, sent to the topic.
    init(topic: String, fields: HTTPFields, body: ByteBuffer) throws(StationError) {
        guard let message = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw Self.refusal(40011, "invalid message: message must be UTF-8 encoded")
        }
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { HTTPField.Name($0).flatMap { fields[$0] } }.first
        }
        let tags = value("X-Tags", "Tags", "Tag", "ta") ?? ""
        try self.init(
            topic: topic,
            title: value("X-Title", "Title", "ti", "t"),
            message: message.isEmpty ? value("X-Message", "Message", "m") ?? "" : message,
            priority: try Self.priority(value("X-Priority", "Priority", "prio", "p")),
            tags: tags.split(separator: ",").map { $0.trimming { $0 == " " } }
        )
    }

    private init(
        topic: String,
        title: String?,
        message: String,
        priority: Int,
        tags: [String]
    ) throws(StationError) {
        guard Self.isTopic(topic) else {
            throw Self.refusal(40009, "invalid request: topic invalid")
        }
        guard (1...5).contains(priority) else {
            throw Self.refusal(40007, "invalid priority parameter")
        }
        guard message.utf8.count <= Self.messageBytesMax,
            (title?.utf8.count ?? 0) <= Self.titleBytesMax, tags.count <= Self.tagsMax
        else {
            throw StationError(
                .contentTooLarge,
                .ntfy(code: 41301),
                "this station takes \(Self.messageBytesMax) bytes of message, "
                    + "\(Self.titleBytesMax) of title and \(Self.tagsMax) tags"
            )
        }
        self.topic = topic
        self.title = title
        // ntfy uses this text for an empty message.
        self.message = message.isEmpty ? "triggered" : message
        self.priority = priority
        self.tags = tags
    }

    private static func isTopic(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0 == "-" || $0 == "_" || ($0.isASCII && $0.properties.isAlphabetic)
                    || ("0"..."9").contains($0)
            }
    }

    private static func priority(_ text: String?) throws(StationError) -> Int {
        switch text?.lowercased() {
        case nil, "", "3", "default": 3
        case "1", "min": 1
        case "2", "low": 2
        case "4", "high": 4
        case "5", "max", "urgent": 5
        default: throw refusal(40007, "invalid priority parameter")
        }
    }

    private static func refusal(_ code: Int, _ reason: String) -> StationError {
        StationError(.badRequest, .ntfy(code: code), reason)
    }
}

extension Substring {
    /// The text without matching characters at both ends.
    fileprivate func trimming(_ fits: (Character) -> Bool) -> String {
        var rest = drop(while: fits)
        while let last = rest.last, fits(last) { rest.removeLast() }
        return String(rest)
    }
}
