// SPDX-License-Identifier: Apache-2.0

/// The records of both sides at the end of the play.
package struct Evidence: Sendable {
    /// The oldest first.
    package var runs: [RunEntry]
    /// The dates of the daily task's waiting requests, RFC 3339.
    package var next: [String]
    package var record: StationRecord
    /// The photos in the spool folder before the play.
    package var spool: [SpooledPhoto]
    /// The texts of the cues that were not given.
    package var cuesLeft: [String]
    package var daemonEnd: DaemonEnd

    package init(
        runs: [RunEntry],
        next: [String],
        record: StationRecord,
        spool: [SpooledPhoto],
        cuesLeft: [String] = [],
        daemonEnd: DaemonEnd
    ) {
        self.runs = runs
        self.next = next
        self.record = record
        self.spool = spool
        self.cuesLeft = cuesLeft
        self.daemonEnd = daemonEnd
    }
}

/// A difference between the two sides, or between the daemon and the story.
package struct Disagreement: Equatable, Sendable {
    /// The task, as in the story; `nil` means the daemon or the station as a whole.
    package var task: String?
    /// The run; `nil` means every run of the task.
    package var run: String?
    package var text: String

    func concerns(_ entry: RunEntry, in story: Story) -> Bool {
        run.map { $0 == entry.id } ?? (task == story.part(of: entry.task)?.task)
    }
}

extension Story {
    /// All disagreements; none means that both sides agree with the story.
    package func disagreements(_ evidence: Evidence) -> [Disagreement] {
        aboutCounts(evidence.runs) + evidence.runs.flatMap(aboutRun) + aboutNext(evidence)
            + aboutForecasts(evidence) + aboutPhotos(evidence)
            + aboutNotifications(evidence.record) + aboutTheRest(evidence)
    }

    private func aboutCounts(_ runs: [RunEntry]) -> [Disagreement] {
        parts.compactMap { part in
            let count = runs.count { part.isAbout($0.task) }
            guard count != part.runs else { return nil }
            return Disagreement(
                task: part.task,
                text: "\(part.task): \(counted(count, "run")), \(part.runs) expected"
            )
        }
    }

    private func aboutRun(_ run: RunEntry) -> [Disagreement] {
        func says(_ text: String) -> Disagreement {
            Disagreement(
                task: part(of: run.task)?.task,
                run: run.id,
                text: "\(run.task), run \(run.id): \(text)"
            )
        }
        guard run.hasEnded, let outcome = run.outcome else {
            return [says("has not ended, it is \(run.state)")]
        }
        // A task outside the story may run, but must not fail.
        let expected = part(of: run.task)?.outcome ?? Self.succeeded
        guard outcome == expected else {
            let why = run.message.flatMap { $0.isEmpty ? nil : " (\($0))" } ?? ""
            return [says("\(outcome)\(why), \(expected) expected")]
        }
        if let part = part(of: run.task), part.stopReason != run.stopReason {
            let reasons = [run.stopReason, part.stopReason].map { $0 ?? "not" }
            return [says("was asked to stop: \(reasons[0]), \(reasons[1]) expected")]
        }
        return expected == Self.killedAtGrace ? aboutKill(run).map(says) : []
    }

    private func aboutKill(_ run: RunEntry) -> [String] {
        guard let duration = run.durationSeconds, let limit = run.limitSeconds,
            let grace = run.graceSeconds
        else {
            return ["was killed, but its run time or limits are not told"]
        }
        let latest = limit + grace + Self.killSlackSeconds
        guard duration >= limit else {
            return ["was killed after \(seconds(duration)), before its \(seconds(limit)) were over"]
        }
        guard duration <= latest else {
            return ["held its slot for \(seconds(duration)), at most \(seconds(latest)) allowed"]
        }
        return []
    }

    /// Checks that the request exists that the handler submits in its first line.
    private func aboutNext(_ evidence: Evidence) -> [Disagreement] {
        guard evidence.next.count == 1, evidence.next[0].contains("T12:00:00") else {
            let found = evidence.next.isEmpty ? "none" : evidence.next.joined(separator: ", ")
            let text =
                "\(daily): its next run is to begin at noon, and this is what waits: \(found)"
            return [Disagreement(task: daily, text: text)]
        }
        return []
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
        for cue in evidence.cuesLeft {
            found.append(Disagreement(text: "the play never came to this: \(cue)"))
        }
        if evidence.daemonEnd != .exited(0) {
            let text = "the daemon did not drain: told to stop, it \(evidence.daemonEnd)"
            found.append(Disagreement(text: text))
        }
        return found
    }
}
