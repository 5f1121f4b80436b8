// SPDX-License-Identifier: Apache-2.0

import StormyStation

/// Evidence of a play in which everything went as told, for tests that spoil one thing.
enum PlayFixture {
    static let runs = [
        RunEntry(
            id: "01A",
            task: "com.example.stormy.noon",
            outcome: "succeeded",
            durationSeconds: 0.21,
            limitSeconds: 25,
            graceSeconds: 5,
            peakMemoryBytes: 12_582_912
        ),
        RunEntry(
            id: "01B",
            task: "com.example.stormy.photos",
            outcome: "succeeded",
            durationSeconds: 0.3,
            limitSeconds: 10,
            graceSeconds: 2,
            peakMemoryBytes: 11_010_048
        ),
        RunEntry(id: "01C", task: "com.example.stormy.notify.storm", outcome: "succeeded"),
        RunEntry(
            id: "01D",
            task: "com.example.stormy.overrun",
            outcome: "killed(graceExceeded)",
            durationSeconds: 3.02,
            limitSeconds: 2,
            graceSeconds: 1,
            peakMemoryBytes: 512
        ),
        RunEntry(id: "01E", task: "com.example.stormy.notify.photos", outcome: "succeeded"),
    ]

    static let photo = SpooledPhoto(name: "storm.jpg", bytes: 3, sha256: PhotoTests.hex)

    static var record: StationRecord {
        var record = StationRecord()
        record.forecasts = [
            ForecastEntry(
                at: StationFixture.now,
                latitude: 1,
                longitude: 1,
                hours: 12,
                stormHours: 2
            )
        ]
        record.photos = [
            PhotoEntry(
                at: StationFixture.now,
                name: "storm.jpg",
                bytes: 3,
                sha256: PhotoTests.hex,
                verified: true
            )
        ]
        record.notifications = [
            notification("Photos uploaded", key: "photos-1-storm.jpg"),
            notification("A storm is coming", key: "storm-52.52-13.41-1795269600"),
        ]
        return record
    }

    static func notification(_ title: String, key: String?) -> NotificationEntry {
        NotificationEntry(
            at: StationFixture.now,
            id: title,
            topic: "stormy",
            title: title,
            message: "m",
            idempotencyKey: key
        )
    }

    static var evidence: Evidence {
        Evidence(runs: runs, record: record, spool: [photo], daemonEnd: .exited(0))
    }
}
