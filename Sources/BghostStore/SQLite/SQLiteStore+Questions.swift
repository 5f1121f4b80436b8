// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension SQLiteStore {
    package func runs(task: String?, limit: Int) -> [RunRecord] {
        newest(limit, where: { task == nil || $0.task == task }) {
            reader,
            limit throws(SQLiteFailure) in
            try reader.runs(task: task, limit: limit)
        }
    }

    package func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        guard let ids = RunIDRange.ids(beginningWith: idPrefix) else { return [] }
        return newest(limit, where: { ids.contains($0.id) }) {
            reader,
            limit throws(SQLiteFailure) in
            try reader.runs(ids: ids, limit: limit)
        }
    }

    package func runs(_ query: RunQuery) -> RunPage {
        answer(RunPage()) { reader, uncommitted throws(SQLiteFailure) in
            let ends =
                query.before == nil
                ? uncommitted.ends { query.filter.matches($0, now: .max) } : []
            let newer = ends.isEmpty ? [] : try uncommitted.ended(ends, reader)
            var page = try reader.pages.page(query)
            // Runs committed meanwhile are in both.
            page.prepend(newer, limit: query.limit)
            return page
        }
    }

    package func skippedStarts(_ query: SkippedStartQuery) -> SkippedStartPage {
        answer(SkippedStartPage()) { reader, uncommitted throws(SQLiteFailure) in
            let older = try reader.skipped.starts(query)
            // What was committed meanwhile is in both.
            let newer = uncommitted.skippedStarts(query).filter { start in
                !older.rows.contains { $0.start == start.start }
            }
            return SkippedStartPage(older.rows + newer, end: older.end, limit: query.limit)
        }
    }

    package func runs(task: String, endedFrom date: Int64, limit: Int) -> [RunRecord] {
        answer([]) { reader, uncommitted throws(SQLiteFailure) in
            let ends = uncommitted.ends { $0.task == task && $0.endedAt ?? .max >= date }
            let newer = ends.isEmpty ? [] : try uncommitted.ended(ends, reader)
            let older = try reader.pages.runs(task: task, endedFrom: date, limit: limit)
            let ids = Set(older.map(\.id))
            return Array((older + newer.reversed().filter { !ids.contains($0.id) }).prefix(limit))
        }
    }

    package func oldestEnd() -> Int64? {
        answer(nil) { reader, _ throws(SQLiteFailure) in try reader.pages.oldestEnd() }
    }

    package func run(ofRequest id: RunID) -> RunRecord? {
        newest(1, where: { $0.request == id }) { reader, limit throws(SQLiteFailure) in
            try reader.runs(ofRequest: id, limit: limit)
        }.first
    }

    package func output(ofRun id: RunID) -> String {
        answer("") { reader, uncommitted throws(SQLiteFailure) in
            let ended = uncommitted.ends { $0.id == id }.last
            if let output = ended?.details?.output { return output }
            return try reader.output(of: id)
        }
    }

    package func lastRun(task: String) -> RunRecord? { runs(task: task, limit: 1).first }

    package func lastRuns(tasks: [String]) -> [String: RunRecord] {
        answer([:]) { reader, uncommitted throws(SQLiteFailure) in
            let wanted = Set(tasks)
            let ends = uncommitted.ends { wanted.contains($0.task) }
            let newer = ends.isEmpty ? [] : try uncommitted.ended(ends, reader)
            var last = try reader.lastRuns(tasks: tasks)
            guard !ends.isEmpty else { return last }
            let newest = Dictionary(grouping: newer, by: \.task)
            for (task, own) in Dictionary(grouping: ends, by: \.task) {
                // Runs committed meanwhile are among these, in their right place.
                let older = try reader.runs(task: task, limit: own.count)
                let ids = Set(older.map(\.id))
                last[task] = newest[task]?.first { !ids.contains($0.id) } ?? older.first
            }
            return last
        }
    }

    package func deadLetters(task: String?, limit: Int) -> [DeadLetter] {
        guard limit > 0 else { return [] }
        return answer([]) { reader, uncommitted throws(SQLiteFailure) in
            let deaths = try uncommitted.deaths(reader)
            let touched = deaths?.places ?? [:]
            // Read more letters than requested, since uncommitted changes may have removed some of
            // them.
            let (most, overflow) = limit.addingReportingOverflow(touched.count)
            var letters = try reader.deadLetters(task: task, limit: overflow ? limit : most)
            guard let deaths else { return letters }
            letters.removeAll { touched[$0.request.id] != nil && touched[$0.request.id] != .dead }
            letters.removeAll { deaths.dead[$0.request.id] != nil }
            letters += deaths.dead.values.filter { task == nil || $0.request.task == task }
            letters.sort { ($0.diedAt, $0.run) > ($1.diedAt, $1.run) }
            return Array(letters.prefix(limit))
        }
    }

    package func deadLetters(_ query: DeadLetterQuery) -> DeadLetterPage {
        answer(DeadLetterPage()) { reader, uncommitted throws(SQLiteFailure) in
            let deaths = try uncommitted.deaths(reader)
            var page = try reader.letters.page(query, except: deaths?.places ?? [:])
            guard let deaths else { return page }
            page.insert(deaths.dead.values.filter(query.matches), limit: query.limit)
            return page
        }
    }

    /// - Parameter committed: returns the newest runs of the database, at most as many as its
    ///   argument.
    private func newest(
        _ limit: Int,
        where isWanted: (RunRecord) -> Bool,
        _ committed: (StoreReader, Int) throws(SQLiteFailure) -> [RunRecord]
    ) -> [RunRecord] {
        guard limit > 0 else { return [] }
        return answer([]) { reader, uncommitted throws(SQLiteFailure) in
            let ends = uncommitted.ends(where: isWanted)
            guard !ends.isEmpty else { return try committed(reader, limit) }
            let newer = try uncommitted.ended(ends, reader)
            // Runs committed meanwhile are among the first `ends.count` of the database, in their
            // right place.
            let older = try committed(reader, max(limit, ends.count))
            let ids = Set(older.map(\.id))
            return Array((newer.filter { !ids.contains($0.id) } + older).prefix(limit))
        }
    }

    /// Queries throw no errors: a failure is reported once, and the default answer is returned.
    ///
    /// `StoreReading` tells the caller of it.
    func answer<Answer: Sendable>(
        _ otherwise: Answer,
        _ body: (StoreReader, Uncommitted) throws(SQLiteFailure) -> Answer
    ) -> Answer {
        let store: OpenStore
        do { store = try open() } catch {
            StoreReading.outcome?.note(error)
            report(error)
            return otherwise
        }
        // Take the snapshot before the query: changes committed in between are then seen twice
        // instead of not at all.
        let uncommitted = store.committer.uncommitted
        do throws(SQLiteFailure) {
            return try store.ask { reader throws(SQLiteFailure) in try body(reader, uncommitted) }
        } catch {
            let error = error.error("answer a question", in: path)
            StoreReading.outcome?.note(error)
            store.damaged.failed(error)
            return otherwise
        }
    }
}
