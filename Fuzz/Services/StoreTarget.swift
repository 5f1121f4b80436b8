// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostFuzz
import BghostStore
import Glibc

extension FuzzTarget {
    /// Damage to the file of a store: three bytes of place and one to put there, again and again; a
    /// place beyond the end cuts the file off.
    static let store = FuzzTarget("store", bytesMax: 1 << 10) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        var file = try StoreSample.file.get()
        while !cursor.isAtEnd {
            let (high, place) = (Int(cursor.byte()), Int(cursor.integer(UInt16.self)))
            let index = high << 16 | place
            let value = cursor.byte()
            if index < file.count {
                file[index] = value
            } else {
                file.removeLast(index % file.count)
            }
        }
        try StoreSample.check(file, isDamaged: file != StoreSample.file.get())
    }
}

/// A store that holds a little of everything.
private enum StoreSample {
    static let requests = (1...12).map { number in
        Request(
            id: RunID(high: 1, low: UInt64(number)),
            task: "org.example.\(number)",
            parameters: "{\"number\":\(number)}",
            submittedAt: Int64(number),
            latestBegin: number % 3 == 0 ? 1 << 60 : nil,
            priority: 500 + number,
            missed: number % 4 == 0 ? MissedStarts(count: number, from: 7) : nil
        )
    }

    /// Its bytes, once it is closed.
    static let file = Result { () throws(BrokenProperty) -> [UInt8] in
        try inFolder { path throws(BrokenProperty) in
            do throws(StoreError) {
                let store = try SQLiteStore(path: path)
                _ = try store.recover()
                store.commit(requests.map { .accepted($0, replacing: nil) }) { _ in }
                store.commit([.runStarted(record), .switched(plugin: "p", off: "why")]) { _ in }
                store.close()
            } catch {
                throw BrokenProperty("no store can be made: \(error)")
            }
            return try read(path)
        }
    }

    private static let record = RunRecord(
        id: RunID(high: 2, low: 1),
        request: RunID(high: 1, low: 1),
        task: "org.example.1",
        plugin: "p",
        epoch: 1,
        limits: RunLimits(kind: .refresh),
        submittedAt: 1
    )

    /// A damaged store is refused with a reason, or holds nothing that was not put into it.
    static func check(_ file: [UInt8], isDamaged: Bool) throws(BrokenProperty) {
        try inFolder { path throws(BrokenProperty) in
            try write(file, to: path)
            let state: RecoveredState
            let runs: [RunRecord]
            do throws(StoreError) {
                let store = try SQLiteStore(path: path)
                defer { store.close() }
                state = try store.recover()
                runs = store.runs(task: nil, limit: 100)
            } catch {
                try require(isDamaged, "it is refused undamaged: \(error)")
                try MessageText.check(error.description)
                let left = try read(path)
                return try require(left == file, "a damaged file was written to")
            }
            for request in state.pending + state.interrupted.map(\.request) {
                try require(requests.contains(request), "no step submitted \(request)")
            }
            try require(
                isDamaged || state.pending.count == requests.count - 1,
                "\(state.pending.count) requests are pending"
            )
            try require(
                state.interrupted.allSatisfy { $0.run.task == record.task } && runs.isEmpty,
                "runs come from nowhere"
            )
        }
    }

    // MARK: - Files

    private static func inFolder<Value>(
        _ work: (String) throws(BrokenProperty) -> Value
    ) throws(BrokenProperty) -> Value {
        // In memory, where there is a place for that: a sync then costs nothing.
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/bghost-fuzz-XXXXXX".utf8CString)
        guard let folder = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw BrokenProperty("no folder can be made in \(parent)")
        }
        let path = folder + "/store"
        defer {
            for suffix in ["", "-wal", "-shm", "-lock"] { unlink(path + suffix) }
            rmdir(folder)
        }
        return try work(path)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(BrokenProperty) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let written = Glibc.write(file, bytes, bytes.count)
        try require(written == bytes.count, "\(path) cannot be written")
    }

    private static func read(_ path: String) throws(BrokenProperty) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4 << 20)
        let count = Glibc.read(file, &bytes, bytes.count)
        try require(count > 0, "\(path) cannot be read")
        return Array(bytes[..<count])
    }
}
