// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// Submissions, and the contents of partitions.
extension MemoryFleet {
    // MARK: Submissions

    package mutating func post(_ letters: [FleetLetter]) throws(FleetRefusal) {
        for letter in letters where ownerships[letter.partition(of: partitions)] == nil {
            throw .unknownPartition
        }
        for letter in letters {
            let isThere = posted.contains { $0.letter.request.id == letter.request.id }
            guard !isThere || !keepsLettersOnce else { continue }
            lastPosted += 1
            posted.append((lastPosted, letter))
        }
    }

    package mutating func move(_ letters: [FleetLetter]) throws(FleetRefusal) {
        let new = letters.filter { !movesOnce || !moved.contains($0.request.id) }
        try post(new)
        moved.formUnion(new.map(\.request.id))
        guard unansweredMoves > 0 else { return }
        unansweredMoves -= 1
        throw .failed(FleetProblem(.unreachable, "the answer was lost"))
    }

    package func letters(
        after number: Int64,
        limit: Int,
        _ session: HostSession
    ) -> FleetLetterPage {
        let own = posted.filter { posted in
            posted.number > number
                && ownerships[posted.letter.partition(of: partitions)]?.owner == session.host
        }
        let read = own.prefix(min(limit, partLength))
        let readable = read.filter { !unreadable.contains($0.letter.request.id) }
        return FleetLetterPage(
            letters: readable.map { WaitingLetter($0.number, $0.letter) },
            next: read.count == min(limit, partLength) ? read.last?.number : nil,
            unreadable: read.count - readable.count
        )
    }

    // MARK: Contents

    /// All contents of a partition.
    package func contents(of partition: PartitionID) throws(FleetRefusal) -> PartitionContents {
        guard ownerships[partition] != nil else { throw .unknownPartition }
        let rows = rows[partition, default: [:]].sorted { $0.key < $1.key }
        var contents = contents(of: rows[...])
        contents.memories = memories[partition, default: [:]].values
            .sorted { $0.identifier < $1.identifier }
        return contents
    }

    package func contents(
        of partition: PartitionID,
        after place: ContentsPlace?
    ) throws(FleetRefusal) -> ContentsPage {
        guard ownerships[partition] != nil else { throw .unknownPartition }
        var left = rows[partition, default: [:]].sorted { $0.key < $1.key }[...]
        if case .request(let id) = place { left = left.drop { "\($0.key)" <= id } }
        let read = left.prefix(partLength)
        var page = ContentsPage(contents: contents(of: read))
        if read.count == partLength {
            page.next = read.last.map { .request("\($0.key)") }
        } else {
            page.contents.memories = memories[partition, default: [:]].values
                .sorted { $0.identifier < $1.identifier }
        }
        return page
    }

    private func contents(of rows: ArraySlice<(key: RunID, value: Row)>) -> PartitionContents {
        var contents = PartitionContents()
        for (id, row) in rows {
            guard !unreadable.contains(id) else {
                contents.unreadable.append(.request("\(id)", task: row.request.task))
                continue
            }
            switch row.state {
            case .pending: contents.pending.append(row.request)
            case .leased(let run, _): contents.interrupted.append((row.request, run))
            case .dead(let letter): contents.dead.append(letter)
            }
        }
        return contents
    }
}
