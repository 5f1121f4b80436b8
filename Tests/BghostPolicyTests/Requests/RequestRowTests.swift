// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The pendingIndex packs what it keeps; what goes in comes out, whatever it is.
@Suite struct RequestRowTests {
    private static let plain = Request(
        id: RunID(high: 1, low: 2),
        task: "a",
        parameters: "{}",
        submittedAt: 7,
        priority: 500
    )

    private static func changed(_ change: (inout Request) -> Void) -> Request {
        var request = plain
        change(&request)
        return request
    }

    static let requests: [Request] = [
        plain,
        changed { $0.parameters = #"{"a":1}"# },
        changed { $0.parameters = "" },
        changed { $0.earliestBegin = 0 },
        changed { $0.earliestBegin = .min },
        changed { $0.earliestBegin = .max },
        changed { $0.latestBegin = .max },
        changed { $0.submittedAt = .min },
        changed { $0.priority = 1000 },
        changed { $0.priority = .max },
        changed { $0.priority = .min },
        changed { $0.priority = Int(Int16.max) + 1 },
        changed { $0.requirements = RequirementSet(rawValue: .max) },
        changed { $0.scheduledTime = -1 },
        changed { $0.missed = MissedStarts(count: 3, from: .min) },
        changed { $0.submitter = .manifest }, changed { $0.submitter = .plugin("weather") },
        changed { $0.submitter = .run(RunID(high: .max, low: 0)) },
        changed { $0.task = "another" },
        changed {
            $0.parameters = #"{"b":2}"#
            $0.latestBegin = 100
            $0.earliestBegin = 3
            $0.priority = -1
        },
    ]

    @Test(arguments: requests) func `A pending request is kept whole`(request: Request) {
        var pendingIndex = PendingRequestIndex()
        let entry = pendingIndex.entry(for: "a", definition: 0, overlap: .queue)
        #expect(
            pendingIndex.accept(Self.changed { $0.scheduledTime = 9 }, entry: entry, now: 0)?.id
                == nil
        )
        #expect(pendingIndex.accept(request, entry: entry, now: 0)?.scheduledTime == 9)
        #expect(pendingIndex.entries[entry].pending == request)
        #expect(pendingIndex.entries[entry].requests == [request])
        #expect(pendingIndex.entries[entry].countsInQuota == request.submitter.isPlugin)
        #expect(pendingIndex.accept(Self.plain, entry: entry, now: 0) == request)
        #expect(pendingIndex.entries[entry].pending == Self.plain)
        #expect(pendingIndex.withdrawAll(entry: entry) == [Self.plain])
        #expect(
            pendingIndex.entries[entry].pending == nil
                && pendingIndex.entries[entry].requests.isEmpty
        )
    }

    @Test(arguments: requests) func `The started request equals the accepted one`(request: Request)
    {
        var pendingIndex = PendingRequestIndex()
        let entry = pendingIndex.entry(for: "a", definition: 0, overlap: .queue)
        _ = pendingIndex.accept(request, entry: entry, now: 0)
        pendingIndex.becomeDue(now: .max)
        var asked: [Request] = []
        let decision = pendingIndex.next(now: .max - 1) { request, _ in
            asked.append(request)
            return true
        }
        if request.earliestBegin == .max {
            #expect(decision == nil)
        } else if let latest = request.latestBegin, latest < .max - 1 {
            #expect(decision == .missed(request, entry: entry))
        } else {
            #expect(decision == .start(request, entry: entry))
            #expect(asked == [request])
        }
    }

    /// Identifiers that are alike, and more of them than fit into the first table.
    @Test func `Identifiers are distinguished`() {
        var pendingIndex = PendingRequestIndex()
        var names = ["", "é", "e\u{301}", "a", "aa", "job.1234567", "job.12345678"]
        names += (0..<5000).map { "job.12345678.\($0)" }
        names += (0..<50).map { String(repeating: "x", count: $0 + 2) }
        for (index, name) in names.enumerated() {
            #expect(pendingIndex.entry(of: name) == nil)
            #expect(pendingIndex.entry(for: name, definition: index % 7, overlap: .queue) == index)
        }
        #expect(pendingIndex.entries.count == names.count)
        for (index, name) in names.enumerated() {
            #expect(pendingIndex.entry(of: name) == index)
            #expect(pendingIndex.entry(for: name, definition: 99, overlap: .allow) == index)
            #expect(Array(pendingIndex.entries[index].identifier.utf8) == Array(name.utf8))
            #expect(pendingIndex.entries[index].definition == index % 7)
            #expect(pendingIndex.entries[index].overlap == .queue)
        }
        #expect(pendingIndex.entry(of: "job.12345678.5000") == nil)
    }

    @Test func `A hold stays when all is withdrawn`() {
        var pendingIndex = PendingRequestIndex()
        let entry = pendingIndex.entry(for: "a", definition: 0, overlap: .queue)
        pendingIndex.delay(entry: entry, until: 50, now: 0)
        _ = pendingIndex.accept(Self.plain, entry: entry, now: 0)
        #expect(pendingIndex.withdrawAll(entry: entry) == [Self.plain])
        #expect(pendingIndex.entries[entry].delayedUntil == 50)
        pendingIndex.delay(entry: entry, until: nil, now: 0)
        #expect(pendingIndex.entries[entry].delayedUntil == nil)
    }
}
