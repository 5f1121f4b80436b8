// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import Testing

// MARK: Questions about all requests, and cancels

extension FleetConformance {
    static var listingChecks: [Check] {
        [
            Check("lists what waits, runs and died, on whichever host") { try $0.listsRequests() },
            Check("lists all in parts, each once") { try $0.listsInParts() },
            Check("lists the tasks that are asked for") { try $0.listsTasks() },
            Check("keeps a cancel until its request has ended") { try $0.keepsCancels() },
            Check("shows cancels to the owner") { try $0.showsCancelsToOwners() },
            Check("shows cancels in parts") { try $0.showsCancelsInParts() },
        ]
    }

    private static func partition(_ task: String) -> PartitionID {
        PartitionID(of: task, partitions: 8)
    }

    /// Accepts requests, each in the partition of its task.
    private func accept(_ requests: [Request], number: Int64, _ session: HostSession) throws {
        var fold = BatchFold()
        for request in requests {
            let changes: [StoreChange] = [.accepted(request, replacing: nil)]
            expect(try fold.add(changes, in: Self.partition(request.task)).isEmpty)
        }
        // The conformance of the answer is that it comes.
        _ = try harness.store.commit(fold.take(), number: number, session)
    }

    private func list(
        isDead: Bool = false,
        _ tasks: TaskFilter? = nil,
        limit: Int = 100
    ) throws -> [FleetRow] {
        try harness.store.page(FleetQuestion(isDead: isDead, tasks: tasks, limit: limit)).rows
    }

    func listsRequests() throws {
        let session = try owner()
        let requests = (1...3).map { FleetSample.request($0, task: "t\($0)") }
        let runs = requests.map { FleetSample.run(10 + Int($0.id.low), of: $0, epoch: 5) }
        let ended = FleetSample.ended(runs[2], .failed)
        try accept(requests, number: 1, session)
        var fold = BatchFold()
        for (run, then) in [(runs[1], nil), (runs[2], ended)] {
            var changes: [StoreChange] = [.runStarted(run)]
            if let then {
                changes.append(.runEnded(then, then: .dead(requests[2], reason: "why")))
            }
            expect(try fold.add(changes, in: Self.partition(run.task)).isEmpty)
        }
        // The conformance of the answer is that it comes.
        _ = try harness.store.commit(fold.take(), number: 2, session)
        let letter = FleetLetter(FleetSample.request(4, task: "t4"), .append)
        try harness.store.post([letter])
        let waiting = try list()
        func row(_ number: Int) -> FleetRow? { waiting.first { $0.request == requests[number] } }
        expect(waiting.count == 3)
        expect(row(0)?.state == .pending && row(0)?.owner == "a" && row(0)?.run == nil)
        expect(row(0)?.partition == Self.partition("t1"))
        expect(row(1)?.state == .running && row(1)?.run == runs[1].id)
        expect(waiting.last?.state == .submitted && waiting.last?.request == letter.request)
        let dead = try list(isDead: true)
        expect(dead.map(\.request) == [requests[2]] && dead.first?.state == .dead)
        expect(dead.first?.letter?.reason == "why" && dead.first?.run == runs[2].id)
        try harness.store.leave(session)
        expect(try list().allSatisfy { $0.owner == nil } && list().count == 3)
    }

    func listsInParts() throws {
        let session = try owner()
        try accept(
            (1...20).map { FleetSample.request($0, task: "t\($0)") },
            number: 1,
            session
        )
        try harness.store.post(
            (21...30).map { FleetLetter(FleetSample.request($0, task: "t\($0)"), .append) }
        )
        for limit in [1, 3, 20, 30] {
            var question = FleetQuestion(isDead: false, limit: limit)
            var found: [Int] = []
            repeat {
                let page = try harness.store.page(question)
                expect(page.rows.count <= limit)
                found += page.rows.map { Int($0.request.id.low) }
                question.cursor = page.next
            } while question.cursor != nil && found.count < 100
            expect(found.sorted() == Array(1...30))
            expect(Array(found.suffix(10)) == Array(21...30))
        }
    }

    func listsTasks() throws {
        let session = try owner()
        try accept(
            ["mail.1", "mail.2", "job.1"].enumerated()
                .map { FleetSample.request($0.offset + 1, task: $0.element) },
            number: 1,
            session
        )
        try harness.store.post([
            FleetLetter(FleetSample.request(4, task: "mail.1"), .append),
            FleetLetter(FleetSample.request(5, task: "job.2"), .append),
        ])
        func tasks(_ filter: String, limit: Int = 100) throws -> [String] {
            try list(TaskFilter(filter), limit: limit).map(\.request.task)
        }
        expect(try tasks("mail.1") == ["mail.1", "mail.1"])
        expect(try tasks("mail.*").sorted() == ["mail.1", "mail.1", "mail.2"])
        expect(try tasks("job.2") == ["job.2"])
        expect(try tasks("job").isEmpty && tasks("mail._").isEmpty)
        expect(try tasks("*").count == 5 && tasks("*", limit: 2).count == 2)
    }

    func keepsCancels() throws {
        let session = try owner()
        let (waiting, gone) = (FleetSample.request(1), FleetSample.request(2, task: "b"))
        try accept([waiting, gone], number: 1, session)
        expect(try harness.store.cancels(limit: 10, session).isEmpty)
        expect(try harness.store.cancel(FleetSample.id(9)) == nil)
        let answer = try harness.store.cancel(waiting.id)
        expect(answer?.isNew == true && answer?.row.request == waiting)
        expect(try harness.store.cancel(waiting.id)?.isNew == false)
        expect(try harness.store.cancel(gone.id)?.isNew == true)
        // One that its owner has not taken yet.
        let letter = FleetLetter(FleetSample.request(3, task: "c"), .append)
        try harness.store.post([letter])
        expect(try harness.store.cancel(letter.request.id)?.row.state == .submitted)
        let all = [(waiting, "a"), (gone, "b"), (letter.request, "c")]
            .map { FleetCancel($0.0.id, task: $0.1) }
        func open() throws -> [FleetCancel] {
            try harness.store.cancels(limit: 10, session)
                .sorted { $0.request < $1.request }
        }
        expect(try open() == all && open() == all)
        expect(try list().allSatisfy(\.isCancelled) && list().count == 3)
        try commit(
            [.closed(gone.id, .cancelled)],
            number: 2,
            in: Self.partition("b"),
            session
        )
        expect(try open() == [all[0], all[2]])
        // Its request is gone, so nothing is left of it.
        expect(try harness.store.cancel(gone.id) == nil)
        let run = FleetSample.run(11, of: waiting, epoch: 5)
        try commit([.runStarted(run)], number: 3, in: Self.partition("a"), session)
        expect(try open() == [all[0], all[2]])
        try commit(
            [.runEnded(FleetSample.ended(run, .failed), then: .dead(waiting, reason: "why"))],
            number: 4,
            in: Self.partition("a"),
            session
        )
        expect(try open() == [all[2]])
        let dead = try harness.store.cancel(waiting.id)
        expect(dead?.row.state == .dead && dead?.isNew == false)
        expect(try open() == [all[2]])
    }

    func showsCancelsToOwners() throws {
        var first = try register("a")
        var second = try register("b")
        let owned = try [claim(&first), claim(&second)].map { Set($0.map(\.partition)) }
        let letters = (1...40).map { FleetLetter(FleetSample.request($0, task: "t\($0)"), .append) }
        try harness.store.post(letters)
        for letter in letters { expect(try harness.store.cancel(letter.request.id) != nil) }
        for (session, partitions) in zip([first, second], owned) {
            let own = letters.filter { partitions.contains(Self.partition($0.request.task)) }
            let shown = try harness.store.cancels(limit: 100, session).map(\.request).sorted()
            expect(!own.isEmpty && shown == own.map(\.request.id).sorted())
            expect(try harness.store.cancels(limit: 2, session).count == 2)
        }
    }

    /// Parts also have those whose requests have ended, but do not show them.
    func showsCancelsInParts() throws {
        let session = try owner()
        let letters = (1...7).map { FleetLetter(FleetSample.request($0, task: "t\($0)"), .append) }
        try harness.store.post(letters)
        for letter in letters.reversed() {
            expect(try harness.store.cancel(letter.request.id) != nil)
        }
        var (found, next): ([RunID], RunID?) = ([], nil)
        for count in [3, 3, 1] {
            let part = try harness.store.cancels(after: next, limit: 3, session)
            expect(part.cancels.count == count && (part.next == nil) == (count == 1))
            found += part.cancels.map(\.request)
            next = part.next
        }
        expect(found == letters.map(\.request.id))
    }
}
