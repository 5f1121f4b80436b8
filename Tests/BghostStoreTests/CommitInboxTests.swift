// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostStore
import Testing

/// When so much waits for the disk that no run may start.
@Suite struct CommitInboxTests {
    private let failure: (StoreError, isFinal: Bool)? = (StoreError("full", kind: .full), false)
    private let now = MonotonicInstant.zero

    private func job(bytes: Int) -> CommitJob {
        CommitJob(changes: [], onFailure: .retry, bytes: bytes) { _ in }
    }

    private func fail(_ inbox: inout CommitInbox) {
        let isNews = inbox.attempted(failure, now: now, unix: 1)
        #expect(isNews)
    }

    /// A disk that fails is near the bound earlier than one that is slow.
    @Test(arguments: [
        (1, 4096, true), (1, 65_536, false), (1 << 20, 16, true), (1 << 20, 64, false),
    ])
    func `Runs are held at the bound of transactions or bytes, and until half of it`(
        bytes: Int,
        most: Int,
        isFailing: Bool
    ) {
        var inbox = CommitInbox()
        if isFailing { fail(&inbox) }
        for _ in 1..<most { inbox.add(job(bytes: bytes)) }
        #expect(!inbox.isPressed && inbox.health.waiting == most - 1)
        inbox.add(job(bytes: bytes))
        #expect(inbox.isPressed)
        // Some are written.
        func write(_ count: Int) {
            let batch = inbox.takeBatch(max: count)
            #expect(batch.count == count)
            inbox.finishBatch(retrying: [])
            _ = inbox.attempted(isFailing ? failure : nil, now: now, unix: 2)
        }
        write(most / 2 - 1)
        #expect(inbox.isPressed)
        write(1)
        #expect(!inbox.isPressed)
    }

    @Test func `Transactions that are retried wait in front and go on counting`() {
        var inbox = CommitInbox()
        for bytes in 1...3 { inbox.add(job(bytes: bytes << 20)) }
        let batch = inbox.takeBatch(max: 2)
        inbox.finishBatch(retrying: batch)
        fail(&inbox)
        #expect(inbox.waiting.map(\.bytes) == [1 << 20, 2 << 20, 3 << 20])
        for _ in 0..<9 { inbox.add(job(bytes: 1 << 20)) }
        #expect(!inbox.isPressed)
        inbox.add(job(bytes: 1 << 20))
        #expect(inbox.isPressed)
    }

    @Test func `After a failure that only a restart ends no run starts`() {
        var inbox = CommitInbox()
        let isNews = inbox.attempted((StoreError("full", kind: .full), true), now: now, unix: 1)
        #expect(isNews)
        #expect(inbox.isPressed && inbox.health.failure?.since == 1)
    }
}
