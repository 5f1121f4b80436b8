// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import Testing

// MARK: Submissions

extension FleetConformance {
    static var letterChecks: [Check] {
        [
            Check("keeps submissions until a batch takes them") { try $0.keepsLetters() },
            Check("keeps a submission once that is posted again") { try $0.keepsLettersOnce() },
            Check("moves a request once for good") { try $0.movesOnce() },
            Check("shows submissions to their owner") { try $0.showsLettersToOwners() },
            Check("shows submissions in parts") { try $0.showsLettersInParts() },
            Check("a submission is taken once") { try $0.takesLettersOnce() },
            Check("names the owners") { try $0.namesOwners() },
        ]
    }

    private static func letter(_ number: Int, task: String = "a") -> FleetLetter {
        FleetLetter(FleetSample.request(number, task: task), .append)
    }

    private static func partition(of letter: FleetLetter) -> PartitionID {
        letter.partition(of: 8)
    }

    /// Commits a batch that takes submissions, as pending requests.
    private func take(
        _ letters: [FleetLetter],
        number: Int64,
        _ session: HostSession
    ) throws {
        var fold = BatchFold()
        for letter in letters {
            let partition = Self.partition(of: letter)
            fold.take(letter: letter.request.id, in: partition)
            let changes: [StoreChange] = [.accepted(letter.request, replacing: nil)]
            expect(try fold.add(changes, in: partition).isEmpty)
        }
        // The conformance of the answer is that it comes.
        _ = try harness.store.commit(fold.take(), number: number, session)
    }

    func keepsLetters() throws {
        let session = try owner()
        expect(try harness.store.letters(limit: 10, session).isEmpty)
        let letters = [3, 1, 2].map { Self.letter($0, task: "t\($0)") }
        try harness.store.post(letters)
        try harness.store.post([Self.letter(4)])
        expect(try harness.store.letters(limit: 10, session) == letters + [Self.letter(4)])
        expect(try harness.store.letters(limit: 2, session) == Array(letters.prefix(2)))
        try take([letters[0], letters[2]], number: 1, session)
        expect(try harness.store.letters(limit: 10, session) == [letters[1], Self.letter(4)])
        expect(try contents(Self.partition(of: letters[0])).pending.contains(letters[0].request))
    }

    /// A host that had no answer, or died before it noted the answer, posts again.
    func keepsLettersOnce() throws {
        let session = try owner()
        try harness.store.post([Self.letter(1)])
        try harness.store.post([Self.letter(2, task: "b"), Self.letter(1)])
        expect(
            try harness.store.letters(limit: 10, session)
                == [Self.letter(1), Self.letter(2, task: "b")]
        )
    }

    func showsLettersToOwners() throws {
        var first = try register("a")
        var second = try register("b")
        // Each gets half of them.
        let owned = try [claim(&first), claim(&second)].map { Set($0.map(\.partition)) }
        let letters = (1...40).map { Self.letter($0, task: "t\($0)") }
        try harness.store.post(letters)
        for (session, partitions) in zip([first, second], owned) {
            let own = letters.filter { partitions.contains(Self.partition(of: $0)) }
            expect(!own.isEmpty)
            expect(try harness.store.letters(limit: 100, session) == own)
        }
    }

    /// What an owner cannot take does not hide what comes after it.
    func showsLettersInParts() throws {
        let session = try owner()
        let letters = (1...7).map { Self.letter($0, task: "t\($0)") }
        try harness.store.post(letters)
        var (found, last): ([FleetLetter], Int64) = ([], -1)
        for count in [3, 3, 1, 0] {
            let part = try harness.store.letters(after: last, limit: 3, session)
            expect(part.letters.count == count && part.unreadable == 0)
            expect(part.letters.allSatisfy { $0.number > last })
            expect((part.next == nil) == (count < 3))
            found += part.letters.map(\.letter)
            last = part.next ?? part.letters.last?.number ?? last
        }
        expect(found == letters)
    }

    /// A host that had no answer moves a request again, whatever has become of it meanwhile.
    func movesOnce() throws {
        let session = try owner()
        let letters = [Self.letter(1), Self.letter(2, task: "b")]
        let repeated = [letters[0], letters[0]]
        try harness.store.move(letters)
        try harness.store.move(repeated)
        expect(try harness.store.letters(limit: 10, session) == letters)
        try take([letters[0]], number: 1, session)
        try harness.store.move(letters + [Self.letter(3, task: "c")])
        let left = [letters[1], Self.letter(3, task: "c")]
        expect(try harness.store.letters(limit: 10, session) == left)
        try commit(
            [.closed(letters[0].request.id, .cancelled)],
            number: 2,
            in: Self.partition(of: letters[0]),
            session
        )
        try harness.store.move(letters)
        expect(try harness.store.letters(limit: 10, session) == left)
    }

    func takesLettersOnce() throws {
        let session = try owner()
        let letter = Self.letter(1)
        try harness.store.post([letter])
        try take([letter], number: 1, session)
        expect(try harness.store.letters(limit: 10, session).isEmpty)
        try commit(
            [.closed(letter.request.id, .cancelled)],
            number: 2,
            in: Self.partition(of: letter),
            session
        )
        // What takes it again is refused as a whole.
        expect(throws: .drift) { try take([letter], number: 3, session) }
        expect(try contents(Self.partition(of: letter)).pending.isEmpty)
    }

    func namesOwners() throws {
        expect(try harness.store.owners().isEmpty)
        let session = try owner("a")
        expect(try harness.store.owners()[PartitionID(number: 7)] == "a")
        try harness.store.release([PartitionID(number: 7)], session)
        expect(try harness.store.owners()[PartitionID(number: 7)] == nil)
        expect(try harness.store.owners().count == 7)
    }
}
