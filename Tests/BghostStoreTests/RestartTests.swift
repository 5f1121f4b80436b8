// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Glibc
import Testing

/// The state that a daemon restores when it starts.
@Suite(.ownThreads) struct RestartTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private static func request(_ number: Int) -> Request {
        Sample.request(number, task: "job.\(number)")
    }

    /// The bound is a generous one for a debug build; `make bench` has the figure.
    @Test(.timeLimit(.minutes(5))) func `Many requests are taken over soon and whole`() throws {
        let count = 50_000
        let running = 500
        let store = try SQLiteStore(path: path)
        for start in stride(from: 0, to: count, by: 1000) {
            store.commit(
                (start..<start + 1000).map { .accepted(Self.request($0), replacing: nil) },
                isAwaited: false
            ) { _ in }
        }
        store.commit(
            (0..<running).map { .runStarted(Sample.begun($0, request: $0, task: "job.\($0)")) }
        ) { _ in }
        store.close()

        let start = Self.usedSeconds
        let other = try SQLiteStore(path: path)
        var next = running
        var isInOrder = true
        let state = try other.recover(expecting: { _ in }) { request in
            isInOrder = isInOrder && request == Self.request(next)
            next += 1
        }
        let used = Self.usedSeconds - start
        #expect(isInOrder && next == count)
        #expect(state.interrupted.map(\.request) == (0..<running).map(Self.request))
        #expect(state.pending.isEmpty)
        #expect(used < 20, "\(used)")
        other.close()
    }

    /// Processor time of this thread: other tests and processes do not count.
    private static var usedSeconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec
    }

    /// Nothing is written to a store whose rows have not been read, and nothing after they turned
    /// out to be damaged, from whichever caller.
    @Test(.timeLimit(.minutes(5))) func `A damaged store is left as it is`() throws {
        let store = try SQLiteStore(path: path)
        for number in 0..<100 {
            store.commit([.accepted(Self.request(number), replacing: nil)]) { _ in }
        }
        // The last row of the journal is one of its own: the store cannot be opened without it.
        #expect(store.flush(until: .never) == 0)
        store.commit([.accepted(Self.request(100), replacing: nil)]) { _ in }
        store.close()
        var bytes = try File.read(path)
        let text = Array("job.57".utf8)
        let places = bytes.indices.filter { bytes[$0...].starts(with: text) }
        try #require(!places.isEmpty)
        for place in places { bytes[place + 4] ^= 1 }
        try File.write(bytes, to: path)

        let damaged = try SQLiteStore(path: path)
        for _ in 1...2 {
            var error: StoreError?
            damaged.commit([.accepted(Self.request(200), replacing: nil)], isAwaited: true) {
                if case .success = $0 { Issue.record("a damaged store has kept something") }
            }
            do throws(StoreError) {
                _ = try damaged.recover(expecting: { _ in }) { _ in }
            } catch let why { error = why }
            #expect(error?.kind == .corrupt, "\(error?.message ?? "")")
            #expect(damaged.runs(task: nil, limit: 10).isEmpty)
            #expect(throws: StoreError.self) { try damaged.backup(to: folder.file("copy")) }
        }
        damaged.close()
        #expect(try File.read(path) == bytes)
    }

    /// A store that is only looked at is not written to.
    @Test(.timeLimit(.minutes(5))) func `A store that is not read is not touched`() throws {
        try SQLiteStore(path: path).close()
        let before = try File.read(path)
        try SQLiteStore(path: path).close()
        #expect(try File.read(path) == before)
    }
}
