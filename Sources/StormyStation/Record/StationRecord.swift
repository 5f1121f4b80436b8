// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// What reached the station, as `GET /record` shows it.
package struct StationRecord: Codable, Equatable, Sendable {
    /// The number of entries kept; whatever comes after is only counted.
    package static let entriesMax = 10_000

    package var schema = "stormy-station.record/1"
    package var forecasts: [ForecastEntry] = []
    package var photos: [PhotoEntry] = []
    package var notifications: [NotificationEntry] = []
    /// Requests that were answered with an error.
    package var refused = 0
    /// Things that arrived when the record was full.
    package var unrecorded = 0

    package init() {}

    package var entryCount: Int { forecasts.count + photos.count + notifications.count }
}

/// One forecast that was asked for and given.
package struct ForecastEntry: Codable, Equatable, Sendable {
    package var at: Date
    package var latitude: Double
    package var longitude: Double
    package var hours: Int
    /// How many of those hours have a thunderstorm.
    package var stormHours: Int
    package var userAgent: String?
    /// Bytes of the whole of it.
    package var bytes: Int
    /// Where the answer begins: above 0 it is the rest of one that was cut.
    package var from: Int
    /// Bytes that were sent.
    package var bytesSent: Int
    /// When the last byte was sent; `nil` before, and if it never was.
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

/// One photo that arrived whole.
package struct PhotoEntry: Codable, Equatable, Sendable {
    package var at: Date
    package var name: String
    package var bytes: Int
    /// Lower-case hexadecimal, computed here from the bytes that arrived.
    package var sha256: String
    /// Whether that is the digest the sender had announced.
    package var verified: Bool
    package var userAgent: String?
    /// Bytes that each request has brought: several if the upload was cut and went on.
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

/// One notification, however often it was sent.
package struct NotificationEntry: Codable, Equatable, Sendable {
    package var at: Date
    /// What the sender was answered, the same for every repeat.
    package var id: String
    package var topic: String
    package var title: String?
    package var message: String
    /// 1 (lowest) to 5.
    package var priority: Int
    package var tags: [String]
    package var idempotencyKey: String?
    /// How often the same key came again.
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

    /// Whether a repeat of the same key says the same.
    func saysTheSame(as other: NotificationEntry) -> Bool {
        topic == other.topic && title == other.title && message == other.message
            && priority == other.priority && tags == other.tags
    }
}
