// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import Testing

// MARK: Batches

extension FleetConformance {
    static var batchChecks: [Check] {
        [
            Check("keeps requests, leases, dead letters and memories") { try $0.keepsContents() },
            Check("a request keeps its row through its runs") { try $0.keepsRows() },
            Check("partitions are apart") { try $0.separatesPartitions() },
            Check("a batch counts once") { try $0.refusesRepeatedBatches() },
            Check("batches have no gap") { try $0.refusesGaps() },
            Check("says whether an unanswered batch was kept") { try $0.tellsOfUnanswered() },
            Check("shows that the store went back") { try $0.showsWhenItWentBack() },
            Check("refuses a batch that does not fit") { try $0.refusesDrift() },
            Check("an end counts only under its lease") { try $0.fencesEnds() },
            Check("each task has one pending request") { try $0.keepsOnePending() },
        ]
    }

    func keepsContents() throws {
        let session = try owner()
        let requests = (1...4).map { FleetSample.request($0, task: "t\($0)") }
        let runs = requests.map { FleetSample.run(10 + Int($0.id.low), of: $0, epoch: 5) }
        let memory = TaskMemory(identifier: "t1", lastServedTime: 7)
        try commit(requests.map { .accepted($0, replacing: nil) }, number: 1, session)
        try commit(
            [
                .runStarted(runs[1]), .runStarted(runs[2]), .runStarted(runs[3]),
                .runEnded(
                    FleetSample.ended(runs[2], .failed),
                    then: .dead(requests[2], reason: "why")
                ),
                .runEnded(FleetSample.ended(runs[3]), then: .consumed), .remembered(memory),
            ],
            number: 2,
            session
        )
        let found = try contents()
        expect(found.pending == [requests[0]])
        expect(found.interrupted.map(\.request) == [requests[1]])
        expect(found.interrupted.map(\.run) == [runs[1]])
        expect(
            found.dead == [
                DeadLetter(request: requests[2], reason: "why", run: runs[2].id, diedAt: 5)
            ]
        )
        expect(found.memories == [memory])
        try commit(
            [.remembered(TaskMemory(identifier: "t1")), .discarded(requests[2].id)],
            number: 3,
            session
        )
        expect(try contents().memories.isEmpty)
        expect(try contents().dead.isEmpty)
    }

    func keepsRows() throws {
        let session = try owner()
        var request = FleetSample.request(1)
        try commit([.accepted(request, replacing: nil)], number: 1, session)
        for attempt in 1...3 {
            let run = FleetSample.run(10 + attempt, of: request, epoch: UInt64(attempt))
            try commit([.runStarted(run)], number: Int64(2 * attempt), session)
            expect(try contents().interrupted.map(\.run) == [run])
            expect(try contents().interrupted.map(\.request) == [request])
            request.counters.failures += 1
            try commit(
                [.runEnded(FleetSample.ended(run, .failed), then: .again(request))],
                number: Int64(2 * attempt + 1),
                session
            )
            expect(try contents().pending == [request])
            expect(try contents().interrupted.isEmpty)
        }
        request.earliestBegin = 9
        try commit([.moved(request)], number: 8, session)
        expect(try contents().pending == [request])
        try commit([.closed(request.id, .cancelled)], number: 9, session)
        expect(try contents().pending.isEmpty)
    }

    func separatesPartitions() throws {
        let session = try owner()
        let (first, second) = (Self.partitions()[2], Self.partitions()[3])
        let memory = TaskMemory(identifier: "a", lastServedTime: 1)
        try commit(
            [.accepted(FleetSample.request(1), replacing: nil), .remembered(memory)],
            number: 1,
            in: first,
            session
        )
        expect(try contents(second).pending.isEmpty)
        expect(try contents(second).memories.isEmpty)
        expect(try contents(first).pending == [FleetSample.request(1)])
        expect(throws: .drift) {
            try commit([.closed(FleetSample.id(1), .missed)], number: 2, in: second, session)
        }
    }

    func refusesRepeatedBatches() throws {
        let session = try owner()
        let batch: [StoreChange] = [.accepted(FleetSample.request(1), replacing: nil)]
        try commit(batch, number: 1, session)
        expect(throws: .fenced) { try commit(batch, number: 1, session) }
        try commit([.closed(FleetSample.id(1), .missed)], number: 2, session)
        expect(throws: .fenced) { try commit(batch, number: 1, session) }
        expect(try contents().pending.isEmpty)
        expect(try answer(toResumeOf: session).lastBatch == 2)
    }

    func refusesGaps() throws {
        let session = try owner()
        for number in [Int64.min, -1, 0, 2, .max] {
            expect(throws: .fenced) {
                try commit(
                    [.accepted(FleetSample.request(1), replacing: nil)],
                    number: number,
                    session
                )
            }
        }
        expect(try contents().pending.isEmpty)
        try commit([], number: 1, session)
    }

    func tellsOfUnanswered() throws {
        var session = try owner()
        var queue = BatchQueue()
        for wasKept in [true, false, true] {
            let id = Int(try resume(&session)) + 1
            let request = FleetSample.request(id, task: "t\(id)")
            let added = try queue.add(
                [.accepted(request, replacing: nil)],
                in: Self.partitions()[0]
            )
            let sent = try queue.send()
            if wasKept {
                // The answer is lost.
                _ = try harness.store.commit(sent.batch, number: sent.number, session)
            }
            let last = try resume(&session)
            expect(queue.kept < added.transaction)
            let expected: BatchQueue.Resumption = wasKept ? .kept : .again(sent)
            expect(queue.resumed(last: last) == expected)
            if !wasKept {
                // The answer says when; only that it comes matters here.
                _ = try harness.store.commit(sent.batch, number: sent.number, session)
                queue.answered()
            }
            expect(queue.kept == added.transaction)
        }
        expect(try contents().pending.map(\.id.low) == [1, 2, 3])
    }

    func showsWhenItWentBack() throws {
        var session = try owner()
        var queue = BatchQueue()
        harness.save()
        for id in 1...2 {
            let change = StoreChange.accepted(
                FleetSample.request(id, task: "t\(id)"),
                replacing: nil
            )
            // No change is local.
            _ = try queue.add([change], in: Self.partitions()[0])
            let sent = try queue.send()
            // The answer says when; only that it comes matters here.
            _ = try harness.store.commit(sent.batch, number: sent.number, session)
            queue.answered()
        }
        harness.goBack()
        let last = try resume(&session)
        expect(last == 0)
        expect(queue.resumed(last: last) == .wentBack)
        expect(throws: .fenced) { try commit([], number: 3, session) }
        expect(try contents().pending.isEmpty)
    }

    func refusesDrift() throws {
        let session = try owner()
        let request = FleetSample.request(1)
        let run = FleetSample.run(11, of: request, epoch: 5)
        let other = FleetSample.request(2, task: "b")
        let memory = TaskMemory(identifier: "b", lastServedTime: 1)
        let absent: [StoreChange] = [
            .closed(request.id, .missed), .runStarted(run), .moved(request),
            .runEnded(FleetSample.ended(run), then: .consumed), .redriven(request),
            .discarded(request.id),
        ]
        for change in absent {
            expect(throws: .drift) {
                try commit(
                    [.accepted(other, replacing: nil), change, .remembered(memory)],
                    number: 1,
                    session
                )
            }
        }
        try commit([.accepted(request, replacing: nil)], number: 1, session)
        let pending: [StoreChange] = [
            .accepted(request, replacing: nil), .redriven(request), .discarded(request.id),
            .runEnded(FleetSample.ended(run), then: .consumed),
        ]
        for change in pending {
            expect(throws: .drift) {
                try commit([change], number: 2, session)
            }
        }
        // Nothing of a refused batch was kept, and it took no number.
        expect(try contents().pending == [request])
        expect(try contents().memories.isEmpty)
        expect(try answer(toResumeOf: session).lastBatch == 1)
    }

    func fencesEnds() throws {
        let session = try owner()
        let request = FleetSample.request(1)
        let run = FleetSample.run(11, of: request, epoch: 5)
        try commit([.accepted(request, replacing: nil), .runStarted(run)], number: 1, session)
        for epoch in [UInt64(4), 6, 1 << 40] {
            let other = FleetSample.ended(FleetSample.run(11, of: request, epoch: epoch))
            for next in [AfterRun.consumed, .again(request), .dead(request, reason: "")] {
                expect(throws: .drift) {
                    try commit([.runEnded(other, then: next)], number: 2, session)
                }
            }
        }
        expect(try contents().interrupted.map(\.run) == [run])
        try commit([.runEnded(FleetSample.ended(run), then: .consumed)], number: 2, session)
        expect(try contents().interrupted.isEmpty)
        expect(throws: .drift) {
            try commit([.runEnded(FleetSample.ended(run), then: .consumed)], number: 3, session)
        }
    }

    func keepsOnePending() throws {
        let session = try owner()
        try commit([.accepted(FleetSample.request(1), replacing: nil)], number: 1, session)
        expect(throws: .drift) {
            try commit([.accepted(FleetSample.request(2), replacing: nil)], number: 2, session)
        }
        var manual = FleetSample.request(4)
        manual.isManual = true
        try commit(
            [
                .accepted(FleetSample.request(2), replacing: FleetSample.id(1)),
                .accepted(FleetSample.request(3, failures: 1), replacing: nil),
                .accepted(manual, replacing: nil),
            ],
            number: 2,
            session
        )
        expect(try contents().pending.map(\.id.low) == [2, 3, 4])
        expect(throws: .drift) {
            try commit(
                [
                    .closed(FleetSample.id(2), .cancelled),
                    .accepted(FleetSample.request(5), replacing: nil),
                    .accepted(FleetSample.request(6), replacing: nil),
                ],
                number: 3,
                session
            )
        }
        let run = FleetSample.run(12, of: FleetSample.request(2), epoch: 1)
        try commit(
            [.runStarted(run), .accepted(FleetSample.request(5), replacing: nil)],
            number: 3,
            session
        )
        expect(try contents().pending.map(\.id.low) == [3, 4, 5])
    }
}
