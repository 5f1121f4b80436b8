// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Compares the daemon's report with the station's record.
extension Story {
    /// Checks that a forecast outlives its run: it is requested once, and completes after the end of the run.
    func aboutForecasts(_ evidence: Evidence) -> [Disagreement] {
        let task = part(leaving: .forecast)?.task
        func says(_ text: String) -> Disagreement { Disagreement(task: task, text: text) }
        let forecasts = evidence.record.forecasts
        var found: [Disagreement] = []
        if forecasts.count != 1 {
            let text = "the station was asked for \(counted(forecasts.count, "forecast"))"
            found.append(says("\(text), 1 expected"))
        }
        for forecast in forecasts {
            if forecast.stormHours == 0 {
                let text = "a forecast was asked for so few hours that the storm is not in it"
                found.append(says(text))
            }
            if forecast.bytesSent != forecast.bytes {
                let sizes = "\(forecast.bytesSent) B for one of \(forecast.bytes) B"
                found.append(says("the station has sent \(sizes): not one body"))
            }
        }
        if let end = forecasts.last?.completeAt {
            found += about(.forecastBegun, begunBefore: end, "the forecast", evidence)
        }
        return found
    }

    /// Checks that the upload is interrupted, outlives its run too, and resumes at its position.
    func aboutPhotos(_ evidence: Evidence) -> [Disagreement] {
        let task = part(leaving: .photos)?.task
        func says(_ text: String) -> Disagreement { Disagreement(task: task, text: text) }
        let photos = evidence.record.photos
        var found: [Disagreement] = []
        if evidence.spool.isEmpty {
            found.append(says("the spool folder holds no photo to compare with"))
        }
        for photo in evidence.spool {
            let arrivals = photos.count { $0.sha256 == photo.sha256 && $0.verified }
            if arrivals != 1 {
                let text = "the photo \(photo.name) (sha-256 \(photo.sha256)) reached the station"
                found.append(says("\(text) \(arrivals == 0 ? "not at all" : "\(arrivals) times")"))
            }
        }
        for photo in photos {
            if !photo.verified {
                found.append(says("\(photo.name) reached the station with a wrong digest"))
            } else if !evidence.spool.contains(where: { $0.sha256 == photo.sha256 }) {
                let text = "reached the station and is not in the spool folder"
                found.append(says("\(photo.name) \(text)"))
            }
            if photo.pieces.reduce(0, +) != photo.bytes {
                let text = "came in pieces that are not \(photo.bytes) B together"
                found.append(says("\(photo.name) \(text): \(photo.pieces)"))
            }
        }
        if !photos.isEmpty, photos.allSatisfy({ $0.pieces.count < 2 }) {
            found.append(says("no photo came in two pieces, though the connection was cut"))
        }
        if let end = photos.map(\.at).max() {
            found += about(.photosBegun, begunBefore: end, "the photo", evidence)
        }
        return found
    }

    /// Checks that a transfer of a run continues after the run's end.
    private func about(
        _ trace: Trace,
        begunBefore end: Date,
        _ what: String,
        _ evidence: Evidence
    ) -> [Disagreement] {
        guard let part = part(leaving: trace),
            let run = evidence.runs.first(where: { part.isAbout($0.task) })
        else { return [] }
        let time = RecordCoding.text(end)
        // Both are UTC with milliseconds, so their texts sort by time.
        guard let ended = run.endedAt, ended < time else {
            let text = "\(what) was there at \(time), and its run over only at"
            return [Disagreement(task: part.task, text: "\(text) \(run.endedAt ?? "no time")")]
        }
        return []
    }

    func aboutNotifications(_ record: StationRecord) -> [Disagreement] {
        var found: [Disagreement] = []
        var expected: [String] = []
        for part in parts {
            guard case .notifications(let titles) = part.trace else { continue }
            expected += titles
            for title in titles {
                let count = record.notifications.count { $0.title == title }
                guard count != 1 else { continue }
                let text = "the station got \(counted(count, "notification")) \"\(title)\""
                found.append(Disagreement(task: part.task, text: "\(text), 1 expected"))
            }
        }
        for entry in record.notifications where !expected.contains(entry.title ?? "") {
            let text = "the station got a notification that is not in the story"
            found.append(Disagreement(text: "\(text): \"\(entry.title ?? entry.message)\""))
        }
        return found
    }
}
