// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

/// Questions about all requests, and cancels: O(requests).
extension MemoryFleet {
    package func page(_ question: FleetQuestion) throws(FleetRefusal) -> FleetPage {
        var page = FleetPage()
        func matches(_ task: String) -> Bool { question.tasks?.matches(task) ?? true }
        var after: (PartitionID, RunID)?
        var letter: Int64?
        switch question.cursor {
        case .fleetRequest(let pool, let number, let id):
            after = (PartitionID(pool: pool, number: number), id)
        case .fleetLetter(let number): letter = number
        default: break
        }
        if letter == nil {
            for partition in rows.keys.sorted() {
                for (id, row) in (rows[partition] ?? [:]).sorted(by: { $0.key < $1.key }) {
                    if unreadable.contains(id) { continue }
                    let listed = listed(row, in: partition)
                    guard (listed.state == .dead) == question.isDead, matches(row.request.task),
                        after.map({ (partition, id) > $0 }) ?? true
                    else { continue }
                    guard page.rows.count < question.limit else {
                        let last = page.rows[question.limit - 1]
                        page.next = .fleetRequest(
                            pool: last.partition.pool,
                            number: last.partition.number,
                            id: last.request.id
                        )
                        return page
                    }
                    page.rows.append(listed)
                }
            }
        }
        guard !question.isDead else { return page }
        var last = letter ?? -1
        for posted in posted where posted.number > last && matches(posted.letter.request.task) {
            guard page.rows.count < question.limit else {
                page.next = .fleetLetter(number: last)
                return page
            }
            last = posted.number
            page.rows.append(listed(posted.letter))
        }
        return page
    }

    private func listed(_ row: Row, in partition: PartitionID) -> FleetRow {
        var listed = FleetRow(partition, owner: owner(of: partition), .pending, row.request)
        switch row.state {
        case .pending: break
        case .leased(let run, _): (listed.state, listed.run) = (.running, run.id)
        case .dead(let letter):
            (listed.state, listed.run, listed.letter) = (.dead, letter.run, letter)
        }
        listed.isCancelled = cancelled.contains { $0.request == row.request.id }
        return listed
    }

    private func listed(_ letter: FleetLetter) -> FleetRow {
        let partition = letter.partition(of: partitions)
        return FleetRow(
            partition,
            owner: owner(of: partition),
            .submitted,
            letter.request,
            isCancelled: cancelled.contains { $0.request == letter.request.id }
        )
    }

    package mutating func cancel(_ request: RunID) -> FleetCancelAnswer? {
        guard let row = find(request) else { return nil }
        let isNew = row.state != .dead && !row.isCancelled
        if isNew { cancelled.append(FleetCancel(request, task: row.request.task)) }
        return FleetCancelAnswer(row, isNew: isNew)
    }

    private func find(_ request: RunID) -> FleetRow? {
        for (partition, rows) in rows {
            if let row = rows[request] { return listed(row, in: partition) }
        }
        return posted.first { $0.letter.request.id == request }.map { listed($0.letter) }
    }

    package mutating func cancels(
        after request: RunID?,
        limit: Int,
        _ session: HostSession
    ) -> FleetCancelPage {
        let own = cancelled.filter { cancel in
            let partition = PartitionID(of: cancel.task, partitions: partitions)
            return ownerships[partition]?.owner == session.host
                && request.map { cancel.request > $0 } ?? true
        }.sorted { $0.request < $1.request }.prefix(limit)
        let open = own.filter { find($0.request).map { $0.state != .dead } ?? false }
        cancelled.removeAll { own.contains($0) && !open.contains($0) }
        return FleetCancelPage(
            cancels: Array(open),
            next: own.count == limit ? own.last?.request : nil
        )
    }
}
