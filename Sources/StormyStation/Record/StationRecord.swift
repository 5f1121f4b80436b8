// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// The record of everything that reached the station, as shown by `GET /record`.
package struct StationRecord: Codable, Equatable, Sendable {
    /// The most entries; further ones are only counted.
    package static let entriesMax = 10_000

    package var schema = "stormy-station.record/1"
    package var forecasts: [ForecastEntry] = []
    package var photos: [PhotoEntry] = []
    package var notifications: [NotificationEntry] = []
    /// The number of requests with an error response.
    package var refused = 0
    /// The number of entries that arrived after the record was full.
    package var unrecorded = 0

    package init() {}

    package var entryCount: Int { forecasts.count + photos.count + notifications.count }
}

/// A forecast that was requested and sent.
package struct ForecastEntry: Codable, Equatable, Sendable {
    package var at: Date
    package var latitude: Double
    package var longitude: Double
    package var hours: Int
    /// The number of its hours with a thunderstorm.
    package var stormHours: Int
    package var userAgent: String?
    /// The length of the whole forecast, bytes.
    package var bytes: Int
    /// The start of the response; above 0 it is the rest of an interrupted one.
    package var from: Int
    /// The number of bytes that were sent.
    package var bytesSent: Int
    /// When the last byte was sent; `nil` until then.
    package var completeAt: Date?

    package init(
        at: Date,
        latitude: Double,
        longitude: Double,
        hours: Int,
        stormHours: Int,
        userAgent: String? = nil,
        bytes: Int = 0,
        from: Int = 0,
        bytesSent: Int = 0,
        completeAt: Date? = nil
    ) {
        self.at = at
        self.latitude = latitude
        self.longitude = longitude
        self.hours = hours
        self.stormHours = stormHours
        self.userAgent = userAgent
        self.bytes = bytes
        self.from = from
        self.bytesSent = bytesSent
        self.completeAt = completeAt
    }
}

/// A photo that arrived completely.
package struct PhotoEntry: Codable, Equatable, Sendable {
    package var at: Date
    package var name: String
    package var bytes: Int
    /// Lower-case hexadecimal digits, computed from the received bytes.
    package var sha256: String
    /// Whether that is the digest that the sender announced.
    package var verified: Bool
    package var userAgent: String?
    /// The number of bytes of each request; several requests if the upload was interrupted and resumed.
    package var pieces: [Int]

    package init(
        at: Date,
        name: String,
        bytes: Int,
        sha256: String,
        verified: Bool,
        userAgent: String? = nil,
        pieces: [Int]? = nil
    ) {
        self.at = at
        self.name = name
        self.bytes = bytes
        self.sha256 = sha256
        self.verified = verified
        self.userAgent = userAgent
        self.pieces = pieces ?? [bytes]
    }
}

/// A notification, even if it was sent several times.
package struct NotificationEntry: Codable, Equatable, Sendable {
    package var at: Date
    /// The id in the response, which is the same for each repeat.
    package var id: String
    package var topic: String
    package var title: String?
    package var message: String
    /// 1 (lowest) to 5.
    package var priority: Int
    package var tags: [String]
    package var idempotencyKey: String?
    /// The number of repeats with the same key.
    package var repeats: Int
    package var userAgent: String?

    package init(
        at: Date,
        id: String,
        topic: String,
        title: String? = nil,
        message: String,
        priority: Int = 3,
        tags: [String] = [],
        idempotencyKey: String? = nil,
        repeats: Int = 0,
        userAgent: String? = nil
    ) {
        self.at = at
        self.id = id
        self.topic = topic
        self.title = title
        self.message = message
        self.priority = priority
        self.tags = tags
        self.idempotencyKey = idempotencyKey
        self.repeats = repeats
        self.userAgent = userAgent
    }

    /// Whether a repeat with the same key has the same contents.
    func saysTheSame(as other: NotificationEntry) -> Bool {
        topic == other.topic && title == other.title && message == other.message
            && priority == other.priority && tags == other.tags
    }
}
