// SPDX-License-Identifier: Apache-2.0

internal import BghostFleet
package import BghostFleetRules
package import BghostModel

/// Submissions, and the contents of partitions.
///
/// A row that this version cannot read is left out: the others are not held up by it.
extension PostgreSQLPartitions {
    /// The most rows of a part of the contents, in the middle of what memory and round trips ask for.
    private static let pageLength = 1000

    // MARK: Submissions

    package func post(_ letters: [FleetLetter]) throws(FleetRefusal) {
        try run(PartitionSchema.post, [try text(letters)])
    }

    package func move(_ letters: [FleetLetter]) throws(FleetRefusal) {
        try run(PartitionSchema.move, [try text(letters)])
    }

    private func text(_ letters: [FleetLetter]) throws(FleetRefusal) -> String {
        do {
            return try BatchText.text(of: letters, partitions: partitions)
        } catch {
            throw .failed(
                FleetProblem(.statement, "a submission cannot be written as JSON: \(error)")
            )
        }
    }

    package func letters(
        after number: Int64,
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> FleetLetterPage {
        var page = FleetLetterPage()
        let values = ["\(session.host)", "\(number)", "\(limit)"]
        let found = try rows(PartitionSchema.waitingLetters, values)
        for row in found {
            let place: Int64 = try self.number(row, 1)
            do {
                let letter = try BatchText.value(FleetLetter.self, row[2] ?? "")
                page.letters.append(WaitingLetter(place, letter))
            } catch {
                page.unreadable += 1
            }
        }
        guard let last = found.last else { return page }
        let read = try self.number(last, 3)
        if read == limit || found.count < read { page.next = try self.number(last, 1) }
        return page
    }

    // MARK: Contents

    package func contents(
        of partition: PartitionID,
        after place: ContentsPlace?
    ) throws(FleetRefusal) -> ContentsPage {
        let key = ["\(partition.pool)", "\(partition.number)"]
        switch place {
        case nil:
            guard try !rows(PartitionSchema.partition, key).isEmpty else { throw .unknownPartition }
            return try requests(key, after: "")
        case .request(let id): return try requests(key, after: id)
        case .memory(let task): return try memories(key, after: task)
        }
    }

    private func requests(
        _ key: [String],
        after id: String
    ) throws(FleetRefusal) -> ContentsPage {
        let found = try rows(PartitionSchema.requests, key + [id, "\(Self.pageLength)"])
        var contents = PartitionContents()
        for row in found {
            do {
                try BatchText.read(row[1...4], into: &contents)
            } catch {
                contents.unreadable.append(.request(row[0] ?? "", task: row[5] ?? ""))
            }
        }
        let last = try last(of: found)
        return ContentsPage(contents: contents, next: last.map { .request($0) } ?? .memory(""))
    }

    private func memories(
        _ key: [String],
        after task: String
    ) throws(FleetRefusal) -> ContentsPage {
        let found = try rows(PartitionSchema.memories, key + [task, "\(Self.pageLength)"])
        var contents = PartitionContents()
        for row in found {
            do {
                contents.memories.append(try BatchText.value(TaskMemory.self, row[1] ?? ""))
            } catch {
                contents.unreadable.append(.memory(row[0] ?? ""))
            }
        }
        let last = try last(of: found)
        return ContentsPage(contents: contents, next: last.map { .memory($0) })
    }

    /// The first column of the last row of a part, where the next one begins; `nil` if there is none.
    private func last(of found: [PostgreSQLSession.Row]) throws(FleetRefusal) -> String? {
        guard let last = found.last else { return nil }
        let read = try number(last, last.count - 1)
        guard found.count < read || read == Self.pageLength else { return nil }
        return last[0]
    }
}
