// SPDX-License-Identifier: Apache-2.0

import StormyStation

/// Evidence of a play in which everything went as told, for tests that spoil one thing.
enum PlayFixture {
    static let runs = [
        RunEntry(
            id: "01A",
            task: "com.example.stormy.noon",
            outcome: "succeeded",
            stopReason: "expired",
            endedAt: "2026-11-21T14:25:29.900Z",
            durationSeconds: 0.21,
            limitSeconds: 25,
            graceSeconds: 5,
            peakMemoryBytes: 12_582_912
        ),
        RunEntry(id: "01B", task: "urlSession.weather", outcome: "succeeded"),
        RunEntry(id: "01C", task: "com.example.stormy.notify", outcome: "succeeded"),
        RunEntry(
            id: "01D",
            task: "com.example.stormy.overrun",
            outcome: "killed(graceExceeded)",
            stopReason: "expired",
            durationSeconds: 3.02,
            limitSeconds: 2,
            graceSeconds: 1,
            peakMemoryBytes: 512
        ),
        RunEntry(id: "01E", task: "notificationAction.weather-check.01X", outcome: "succeeded"),
        RunEntry(
            id: "01F",
            task: "com.example.stormy.photos",
            outcome: "succeeded",
            stopReason: "expired",
            endedAt: "2026-11-21T14:25:29.999Z",
            durationSeconds: 0.3,
            limitSeconds: 10,
            graceSeconds: 2,
            peakMemoryBytes: 11_010_048
        ),
        RunEntry(id: "01G", task: "urlSession.photos", outcome: "succeeded"),
        RunEntry(id: "01H", task: "com.example.stormy.notify", outcome: "succeeded"),
    ]

    static let next = ["2026-11-22T12:00:00.000Z"]
    static let photo = SpooledPhoto(name: "storm.jpg", bytes: 3, sha256: PhotoTests.hex)

    static var record: StationRecord {
        var record = StationRecord()
        record.forecasts = [
            ForecastEntry(
                at: StationFixture.now,
                latitude: 1,
                longitude: 1,
                hours: 12,
                stormHours: 2,
                bytes: 400,
                bytesSent: 400,
                completeAt: StationFixture.now
            )
        ]
        record.photos = [
            PhotoEntry(
                at: StationFixture.now,
                name: "storm.jpg",
                bytes: 3,
                sha256: PhotoTests.hex,
                verified: true,
                pieces: [1, 2]
            )
        ]
        record.notifications = [
            notification("A storm is coming"), notification("Photo uploaded"),
        ]
        return record
    }

    static func notification(_ title: String) -> NotificationEntry {
        NotificationEntry(
            at: StationFixture.now,
            id: title,
            topic: "stormy",
            title: title,
            message: "m",
            idempotencyKey: title
        )
    }

    static var evidence: Evidence {
        Evidence(
            runs: runs,
            next: next,
            record: record,
            spool: [photo],
            daemonEnd: .exited(0)
        )
    }
}
