// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostFleet
package import BghostFleetRules
internal import BghostModel

/// Questions about the requests of all hosts, and cancels.
extension PostgreSQLPartitions {
    /// One message, or two: what hosts have taken comes first, then what waits for them.
    package func page(_ question: FleetQuestion) throws(FleetRefusal) -> FleetPage {
        if case .fleetLetter(let number) = question.cursor {
            return try letters(question, after: number)
        }
        var page = try requests(question)
        guard !question.isDead, page.next == nil else { return page }
        guard page.rows.count < question.limit else {
            page.next = .fleetLetter(number: -1)
            return page
        }
        var rest = question
        rest.limit -= page.rows.count
        let letters = try letters(rest, after: -1)
        page.rows += letters.rows
        page.next = letters.next
        return page
    }

    private func requests(_ question: FleetQuestion) throws(FleetRefusal) -> FleetPage {
        var first = (-1, -1, "")
        var last = (Int(Int16.max), Int(Int32.max))
        var (isWhole, text) = (false, "")
        switch question.tasks {
        case nil: break
        case .beginning(let stem): text = stem
        case .task(let task):
            (isWhole, text) = (true, task)
            let partition = PartitionID(of: task, partitions: partitions)
            last = (Int(partition.pool), Int(partition.number))
            first = (last.0, last.1, "")
        }
        if case .fleetRequest(let pool, let number, let id) = question.cursor {
            let place = (Int(pool), Int(number), "\(id)")
            if place > first { first = place }
        }
        let found = try rows(
            PartitionSchema.page(isDead: question.isDead),
            [
                "\(first.0)", "\(first.1)", first.2, "\(last.0)", "\(last.1)",
                "\(isWhole)", text, "\(question.limit)",
            ]
        )
        var page = FleetPage()
        let places = try found.filter { $0[0] == "row" }.map(place)
        for row in found where row[0] == "row" {
            if let listed = try listed(row) { page.rows.append(listed) }
        }
        page.rows.sort { ($0.partition, $0.request.id) < ($1.partition, $1.request.id) }
        guard let end = found.first(where: { $0[0] == "end" }) else { return page }
        let (read, wanted) = (try number(end, 4), try number(end, 5))
        if wanted == question.limit || places.count < wanted,
            let last = places.max(by: { $0 < $1 }), let id = last.id.asRunID
        {
            page.next = .fleetRequest(
                pool: last.partition.pool,
                number: last.partition.number,
                id: id
            )
        } else if read == FleetQuestion.readMax, let id = (end[3] ?? "").asRunID {
            page.next = .fleetRequest(
                pool: UInt8(clamping: try number(end, 1)),
                number: UInt16(clamping: try number(end, 2)),
                id: id
            )
        }
        return page
    }

    private func letters(
        _ question: FleetQuestion,
        after number: Int64
    ) throws(FleetRefusal) -> FleetPage {
        let found = try rows(PartitionSchema.letterPage, ["\(number)"])
        var page = FleetPage()
        for (index, row) in found.enumerated() {
            if let listed = try listed(letter: row),
                question.tasks?.matches(listed.request.task) ?? true
            {
                page.rows.append(listed)
            }
            let isLast = index == found.count - 1
            let read = try self.number(row, 6)
            let hasMore =
                !isLast || read > found.count || found.count == FleetQuestion.lettersReadMax
            if page.rows.count == question.limit || isLast {
                if hasMore { page.next = .fleetLetter(number: try self.number(row, 0)) }
                break
            }
        }
        return page
    }

    /// - Returns: `nil` if this version cannot read the row.
    private func listed(_ row: PostgreSQLSession.Row) throws(FleetRefusal) -> FleetRow? {
        let partition = try partition(row)
        var contents = PartitionContents()
        do {
            try BatchText.read(row[4...7], into: &contents)
        } catch {
            return nil
        }
        let (owner, isCancelled) = (row[8], row[9] == "true")
        if let request = contents.pending.first {
            return FleetRow(partition, owner: owner, .pending, request, isCancelled: isCancelled)
        }
        if let (request, run) = contents.interrupted.first {
            return FleetRow(
                partition,
                owner: owner,
                .running,
                request,
                run: run.id,
                isCancelled: isCancelled
            )
        }
        guard let letter = contents.dead.first else { return nil }
        return FleetRow(
            partition,
            owner: owner,
            .dead,
            letter.request,
            run: letter.run,
            letter: letter
        )
    }

    /// - Returns: `nil` if this version cannot read the row.
    private func listed(letter row: PostgreSQLSession.Row) throws(FleetRefusal) -> FleetRow? {
        let letter: FleetLetter
        do {
            letter = try BatchText.value(FleetLetter.self, row[3] ?? "")
        } catch {
            return nil
        }
        return FleetRow(
            try partition(row),
            owner: row[4],
            .submitted,
            letter.request,
            isCancelled: row[5] == "true"
        )
    }

    /// The place of a row of a request; it is in the order of the database.
    private func place(
        _ row: PostgreSQLSession.Row
    ) throws(FleetRefusal) -> (partition: PartitionID, id: String) {
        (try partition(row), row[3] ?? "")
    }

    private func partition(_ row: PostgreSQLSession.Row) throws(FleetRefusal) -> PartitionID {
        PartitionID(
            pool: UInt8(clamping: try number(row, 1)),
            number: UInt16(clamping: try number(row, 2))
        )
    }

    package func cancel(_ request: RunID) throws(FleetRefusal) -> FleetCancelAnswer? {
        let known: FleetRow?
        // The owner may take a submission in between, so what is not there yet is looked for first.
        if let found = try rows(PartitionSchema.letter, ["\(request)"]).first {
            known = try listed(letter: found)
        } else if let found = try rows(PartitionSchema.request, ["\(request)"]).first {
            known = try listed(found)
        } else {
            return nil
        }
        guard let row = known else { throw unreadable(request) }
        guard row.state != .dead else { return FleetCancelAnswer(row, isNew: false) }
        let added = try rows(
            PartitionSchema.cancel,
            [
                "\(request)", "\(row.partition.pool)", "\(row.partition.number)",
                row.request.task,
            ]
        )
        return FleetCancelAnswer(row, isNew: !added.isEmpty)
    }

    package func cancels(
        after request: RunID?,
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> FleetCancelPage {
        let values = ["\(session.host)", request.map { "\($0)" } ?? "", "\(limit)"]
        let found = try rows(PartitionSchema.cancels, values)
        var cancels: [FleetCancel] = []
        var last: RunID?
        for row in found {
            guard let id = (row[0] ?? "").asRunID, let task = row[1] else { continue }
            last = id
            if row[2] == "t" { cancels.append(FleetCancel(id, task: task)) }
        }
        return FleetCancelPage(cancels: cancels, next: found.count == limit ? last : nil)
    }
}

extension String {
    fileprivate var asRunID: RunID? { RunID(self) }
}
