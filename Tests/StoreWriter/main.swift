// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostTransferRules
import BghostStore
import Dispatch
import Glibc
import StoreScript
import Synchronization

// The process that the store's tests kill, starve and confine.
//
//   store-writer commit DB FROM DELAY   keeps the lists of the script from this one on, prints the
//                                       number of each as it is answered, and is killed so many
//                                       nanoseconds after the first answer
//   store-writer audit DB FROM DELAY    the same with a row of the audit in each transaction
//   store-writer fill DB BALLAST        commits until there is no room, removes the ballast, and
//                                       goes on
//   store-writer limit DB BYTES         the same with a limit on the size of files
//   store-writer retry DB BYTES         the same, with ends of runs that must be kept
//   store-writer lose DB BYTES          the same, and closes it without room
//   store-writer transfers DB BYTES     the same with the journal of transfers
//   store-writer refused DB BYTES       the same with transfers that it refuses
//   store-writer backup DB BYTES        writes DB.copy with a limit on the size of files
//   store-writer open DB                opens it, commits once, and says what came of it

/// Waits for the answer of one commit.
func commit(_ store: SQLiteStore, _ changes: [StoreChange]) -> Result<Void, StoreError> {
    let answer = Mutex<Result<Void, StoreError>?>(nil)
    store.commit(changes) { result in answer.withLock { $0 = result } }
    // An empty list is answered after it.
    while answer.withLock({ $0 == nil }) { sched_yield() }
    return answer.withLock { $0 } ?? .success(())
}

/// One call of the kernel for a line, so that what has been printed is whole.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func complain(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}

/// The monotonic clock, as the store reads it.
func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: UInt64(nanoseconds())) }

func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func commitUntilKilled(
    _ store: SQLiteStore,
    from first: Int,
    delay: Int64,
    list: (Int) -> [StoreChange]
) -> Never {
    let end = Atomic<Int64>(.max)
    var next = first
    while true {
        // As many as a busy host has under way, so that transactions of several lists are cut too.
        while next < first + 64 || nanoseconds() < end.load(ordering: .relaxed) {
            let number = next
            next += 1
            store.commit(list(number)) { result in
                guard case .success = result else { exit(3) }
                say("\(number)")
                _ = end.compareExchange(
                    expected: .max,
                    desired: nanoseconds() + delay,
                    ordering: .relaxed
                )
            }
            while store.health.waiting > 64, nanoseconds() < end.load(ordering: .relaxed) {
                sched_yield()
            }
        }
        kill(getpid(), SIGKILL)
    }
}

/// Commits until it is told that there is no room, makes some, and expects to be heard again.
func commitUntilFull(_ store: SQLiteStore, makeRoom: () -> Void) {
    let payload = String(repeating: "x", count: 8000)
    func request(_ number: Int) -> Request {
        var request = StoreScript.request(number)
        request.parameters = payload
        return request
    }
    var kept: [Int] = []
    var refused: StoreError?
    for number in 0..<100_000 where refused == nil {
        switch commit(store, [.accepted(request(number), replacing: nil)]) {
        case .success: kept.append(number)
        case .failure(let error): refused = error
        }
    }
    say("kept \(kept.count)")
    say("refused \(refused.map { "\($0.kind): \($0)" } ?? "never")")
    // A question, and a commit, while there is no room: nothing traps, and it stays "full".
    if case .failure(let error) = commit(store, [.accepted(request(200_000), replacing: nil)]) {
        say("again \(error.kind)")
    }
    makeRoom()
    for number in 300_000..<300_010 {
        guard case .success = commit(store, [.accepted(request(number), replacing: nil)]) else {
            return say("still refused")
        }
        kept.append(number)
    }
    let pending = try? store.recover().pending.map(\.id)
    say(pending == kept.map { StoreScript.request($0).id } ? "all there" : "something is missing")
    store.close()
}

/// Commits that must be kept while there is no room: what became of each, in order.
func keepWhileFull(_ store: SQLiteStore, makeRoom: (() -> Void)?) {
    let payload = String(repeating: "x", count: 8000)
    func request(_ number: Int) -> Request {
        var request = StoreScript.request(number)
        request.parameters = payload
        return request
    }
    let news = Atomic(0)
    store.onHealthChange { news.add(1, ordering: .relaxed) }
    var next = 0
    while case .success = commit(store, [.accepted(request(next), replacing: nil)]) { next += 1 }
    let since = store.health.failure?.since
    say("failing \(since != nil) \(news.load(ordering: .relaxed))")
    let answers = Mutex<[Int]>([])
    let kept = next..<(next + 20)
    for number in kept {
        store.commit(
            [.accepted(request(number), replacing: nil)],
            isAwaited: number % 2 == 0,
            onFailure: .retry
        ) { result in
            if case .success = result { answers.withLock { $0.append(number) } }
        }
        // A refused change gets an answer too.
        if case .success = commit(store, [.accepted(request(1000 + number), replacing: nil)]) {
            say("accepted out of turn")
        }
    }
    let health = store.health
    say("waiting \(health.waiting) since \(health.failure?.since == since)")
    guard let makeRoom else {
        say("lost \(store.flush(until: now() + 100_000_000))")
        store.close()
        return say("answered \(answers.withLock { $0.count })")
    }
    makeRoom()
    store.retryNow()
    say("left \(store.flush(until: now() + 20_000_000_000))")
    say("in order \(answers.withLock { $0 } == Array(kept))")
    say("failing \(store.health.failure != nil)")
    let ids = (try? store.recover().pending.map(\.id)) ?? []
    say(ids == (0..<kept.upperBound).map { StoreScript.request($0).id } ? "all there" : "missing")
    store.close()
}

/// A transfer that takes two pages.
func transfer(_ number: Int) -> TransferRecord {
    let request = TransferRequest(
        id: RunID(high: 1, low: UInt64(number)),
        plugin: "p",
        session: "s",
        kind: .download,
        url: "https://example.org/" + String(repeating: "x", count: 8000),
        file: "/f",
        createdAt: 0
    )
    let point = TransferPoint(boot: "b")
    return TransferRecord(
        request: request,
        key: "k",
        point: point,
        status: TransferStatus(isDetached: true)
    )
}

func create(_ number: Int, in journal: SQLiteTransferJournal) -> Bool {
    keep([.created(transfer(number))], in: journal)
}

/// - Returns: whether the changes are kept.
func keep(_ changes: [TransferChange], in journal: SQLiteTransferJournal) -> Bool {
    let answer = Mutex<Bool?>(nil)
    journal.commit(changes) { result in
        if case .failure(let error) = result { complain("\(error)") }
        answer.withLock { $0 = (try? result.get()) != nil }
    }
    while answer.withLock({ $0 == nil }) { sched_yield() }
    return answer.withLock { $0 } ?? false
}

/// The same for transfers: only the last state of each waits.
func keepTransfersWhileFull(_ path: String, makeRoom: () -> Void) throws {
    let journal = try SQLiteTransferJournal(path: path)
    let health = Mutex<[Bool]>([])
    journal.onHealthChange { error in
        if let error { complain("\(error)") }
        health.withLock { $0.append(error == nil) }
    }
    var count = 0
    while create(count, in: journal) { count += 1 }
    for step in 0..<200 {
        for number in 0..<count {
            var point = TransferPoint(boot: "b")
            point.bytes = Int64(step)
            journal.keep([.moved(RunID(high: 1, low: UInt64(number)), point)])
        }
        if step == 100 { journal.keep([.removed(RunID(high: 1, low: 0))]) }
    }
    say("left \(journal.flush(until: .zero) == count)")
    makeRoom()
    say("left \(journal.flush(until: now() + 20_000_000_000))")
    say("told \(health.withLock { [$0.first, $0.last] == [false, true] })")
    let found = try journal.recover()
    say(
        found.count == count - 1 && found.allSatisfy { $0.point.bytes == 199 }
            ? "all there" : "missing"
    )
    journal.close()
}

/// A journal that refused a transfer tells when there is room again, though no caller commits.
func refuseTransfersWhileFull(_ path: String, makeRoom: () -> Void) throws {
    let journal = try SQLiteTransferJournal(path: path)
    let news = DispatchSemaphore(value: 0)
    journal.onHealthChange { _ in news.signal() }
    func waitUntil(failing: Bool) -> TransferJournalHealth {
        while true {
            let health = journal.health
            if (health.failure != nil) == failing { return health }
            news.wait()
        }
    }
    say("healthy \(journal.health == TransferJournalHealth())")
    let before = Int64(time(nil))
    var count = 0
    while create(count, in: journal) { count += 1 }
    // Until a change of one page finds no room either, and so a probe does not.
    while keep([.moved(RunID(high: 1, low: 0), TransferPoint(boot: "b"))], in: journal) {}
    let failing = waitUntil(failing: true)
    let since = failing.failure?.since ?? 0
    let seconds = since / 1_000_000_000
    say("since \(seconds >= before && seconds <= Int64(time(nil)) + 1), waiting \(failing.waiting)")
    say("final \(failing.failure?.isFinal ?? true)")
    // An empty list of changes needs no room.
    journal.keep([])
    say(
        "left \(journal.flush(until: .zero)), failing since \(journal.health.failure?.since == since)"
    )
    makeRoom()
    say("healthy \(waitUntil(failing: false) == TransferJournalHealth())")
    journal.close()
}

/// `RLIMIT_FSIZE`, an enumerator that the importer hides.
let fileSize = __rlimit_resource_t(1)
let arguments = CommandLine.arguments
guard arguments.count > 2 else { exit(64) }
let number = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
do {
    if ["limit", "retry", "lose", "transfers", "refused", "backup"].contains(arguments[1]) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(fileSize, &limit)
        let before = limit.rlim_cur
        limit.rlim_cur = rlim_t(number)
        setrlimit(fileSize, &limit)
        let makeRoom = {
            limit.rlim_cur = before
            setrlimit(fileSize, &limit)
        }
        switch arguments[1] {
        case "retry": keepWhileFull(try SQLiteStore(path: arguments[2]), makeRoom: makeRoom)
        case "lose": keepWhileFull(try SQLiteStore(path: arguments[2]), makeRoom: nil)
        case "backup":
            let store = try SQLiteStore(path: arguments[2])
            defer { store.close() }
            try store.backup(to: arguments[2] + ".copy")
        case "transfers":
            do {
                try keepTransfersWhileFull(arguments[2], makeRoom: makeRoom)
            } catch {
                say("\(error)")
            }
        case "refused":
            do {
                try refuseTransfersWhileFull(arguments[2], makeRoom: makeRoom)
            } catch {
                say("\(error)")
            }
        default: commitUntilFull(try SQLiteStore(path: arguments[2]), makeRoom: makeRoom)
        }
        exit(0)
    }
    let store = try SQLiteStore(path: arguments[2]) { say("reported \($0)") }
    switch arguments[1] {
    case "commit":
        let delay = Int64(arguments[4]) ?? 0
        commitUntilKilled(store, from: number, delay: delay, list: StoreScript.list)
    case "audit":
        let delay = Int64(arguments[4]) ?? 0
        commitUntilKilled(store, from: number, delay: delay, list: StoreScript.audited)
    case "fill":
        commitUntilFull(store) { unlink(arguments[3]) }
    case "open":
        // As a daemon does: an old store is written to only then.
        _ = try store.recover()
        for list in 0..<3 {
            switch commit(store, StoreScript.list(list)) {
            case .success: say("kept")
            case .failure(let error): say("refused \(error.kind): \(error)")
            }
            // What the test does between two commits.
            if list == 0, arguments.count > 3 { unlink(arguments[3]) }
        }
        store.close()
    default: exit(64)
    }
} catch {
    say("\(error.kind): \(error)")
    exit(1)
}
