// SPDX-License-Identifier: Apache-2.0

/// What both sides say once the play is over.
package struct Evidence: Sendable {
    /// Oldest first.
    package var runs: [RunEntry]
    package var record: StationRecord
    /// The photos that lay in the spool folder before the play.
    package var spool: [SpooledPhoto]
    package var daemonEnd: DaemonEnd

    package init(
        runs: [RunEntry],
        record: StationRecord,
        spool: [SpooledPhoto],
        daemonEnd: DaemonEnd
    ) {
        self.runs = runs
        self.record = record
        self.spool = spool
        self.daemonEnd = daemonEnd
    }
}

/// One thing in which the two sides, or the daemon and the story, disagree.
package struct Disagreement: Equatable, Sendable {
    /// The task that it is about; `nil` is the daemon or the station as a whole.
    package var task: String?
    /// The one run that it is about; `nil` is every run of the task.
    package var run: String?
    package var text: String

    func concerns(_ entry: RunEntry) -> Bool {
        run.map { $0 == entry.id } ?? (task == entry.task)
    }
}

extension Story {
    /// Every disagreement; none means that both sides tell this story.
    package func disagreements(_ evidence: Evidence) -> [Disagreement] {
        aboutCounts(evidence.runs) + evidence.runs.flatMap(aboutRun)
            + aboutForecasts(evidence.record) + aboutPhotos(evidence)
            + aboutNotifications(evidence.record) + aboutTheRest(evidence)
    }

    private func aboutCounts(_ runs: [RunEntry]) -> [Disagreement] {
        parts.compactMap { part in
            let count = runs.count { $0.task == part.task }
            guard count != part.runs else { return nil }
            return Disagreement(
                task: part.task,
                text: "\(part.task): \(counted(count, "run")), \(part.runs) expected"
            )
        }
    }

    private func aboutRun(_ run: RunEntry) -> [Disagreement] {
        func says(_ text: String) -> Disagreement {
            Disagreement(task: run.task, run: run.id, text: "\(run.task), run \(run.id): \(text)")
        }
        guard run.hasEnded, let outcome = run.outcome else {
            return [says("has not ended, it is \(run.state)")]
        }
        // A task outside the story may take part; it must only not fail.
        let expected = part(of: run.task)?.outcome ?? Self.succeeded
        guard outcome == expected else {
            let why = run.message.flatMap { $0.isEmpty ? nil : " (\($0))" } ?? ""
            return [says("\(outcome)\(why), \(expected) expected")]
        }
        guard expected == Self.killedAtGrace else { return [] }
        guard let duration = run.durationSeconds, let limit = run.limitSeconds,
            let grace = run.graceSeconds
        else {
            return [says("was killed, but its run time or limits are not told")]
        }
        let latest = limit + grace + Self.killSlackSeconds
        guard duration >= limit else {
            return [
                says(
                    "was killed after \(seconds(duration)), before its \(seconds(limit)) were over"
                )
            ]
        }
        guard duration <= latest else {
            return [
                says("held its slot for \(seconds(duration)), at most \(seconds(latest)) allowed")
            ]
        }
        return []
    }

    private func aboutForecasts(_ record: StationRecord) -> [Disagreement] {
        let task = parts.first { $0.trace == .forecast }?.task
        var found: [Disagreement] = []
        let expected = runs(leaving: .forecast)
        if record.forecasts.count != expected {
            let text = "the station gave \(counted(record.forecasts.count, "forecast"))"
            found.append(Disagreement(task: task, text: "\(text), \(expected) expected"))
        }
        if record.forecasts.contains(where: { $0.stormHours == 0 }) {
            let text = "a forecast was asked for so few hours that the storm is not in it"
            found.append(Disagreement(task: task, text: text))
        }
        return found
    }

    private func aboutPhotos(_ evidence: Evidence) -> [Disagreement] {
        let task = parts.first { $0.trace == .photo }?.task
        func says(_ text: String) -> Disagreement { Disagreement(task: task, text: text) }
        var found: [Disagreement] = []
        if evidence.spool.isEmpty, runs(leaving: .photo) > 0 {
            found.append(says("the spool folder holds no photo to compare with"))
        }
        for photo in evidence.spool {
            let arrivals = evidence.record.photos.count { $0.sha256 == photo.sha256 && $0.verified }
            if arrivals != 1 {
                let text = "the photo \(photo.name) (sha-256 \(photo.sha256)) reached the station"
                found.append(says("\(text) \(arrivals == 0 ? "not at all" : "\(arrivals) times")"))
            }
        }
        for photo in evidence.record.photos {
            if !photo.verified {
                found.append(says("\(photo.name) reached the station with a wrong digest"))
            } else if !evidence.spool.contains(where: { $0.sha256 == photo.sha256 }) {
                found.append(
                    says("\(photo.name) reached the station and is not in the spool folder")
                )
            }
        }
        return found
    }

    private func aboutNotifications(_ record: StationRecord) -> [Disagreement] {
        var found: [Disagreement] = []
        var causes: [String] = []
        for part in parts {
            guard case .notification(let cause) = part.trace else { continue }
            causes.append(cause)
            let count = record.notifications.count { $0.isAbout(cause) }
            if count != part.runs {
                let text = "the station got \(counted(count, "notification")) about \(cause)"
                found.append(Disagreement(task: part.task, text: "\(text), \(part.runs) expected"))
            }
        }
        for entry in record.notifications where !causes.contains(where: entry.isAbout) {
            let text = "the station got a notification without a cause of the story"
            found.append(Disagreement(text: "\(text): \"\(entry.title ?? entry.message)\""))
        }
        return found
    }

    private func aboutTheRest(_ evidence: Evidence) -> [Disagreement] {
        var found: [Disagreement] = []
        if evidence.record.refused > 0 {
            let text = "the station refused \(counted(evidence.record.refused, "request"))"
            found.append(Disagreement(text: text))
        }
        if evidence.record.unrecorded > 0 {
            found.append(Disagreement(text: "more reached the station than its record holds"))
        }
        if evidence.daemonEnd != .exited(0) {
            let text = "the daemon did not drain: told to stop, it \(evidence.daemonEnd)"
            found.append(Disagreement(text: text))
        }
        return found
    }
}
