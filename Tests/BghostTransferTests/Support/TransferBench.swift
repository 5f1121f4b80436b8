// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules
import BghostStore
import BghostTestSupport
@testable import BghostTransfer
import Glibc
import Synchronization

/// An engine with a folder of its own, and all that it tells.
final class TransferBench: Sendable {
    let folder: TemporaryDirectory
    let clock: ManualClock
    let journal: any TransferJournal
    let witness = TransferWitness()
    let engine: TransferEngine
    private let serial = Mutex(0)

    /// - Parameters:
    ///   - folder: where files are, which survives this bench.
    ///   - jitter: the random part of each delay; by default 0.
    init(
        folder: TemporaryDirectory? = nil,
        journal: (any TransferJournal)? = nil,
        clock: ManualClock = ManualClock(),
        limits: TransferLimits = TransferLimits(),
        names: NameLookup = .system,
        network: NetworkSettings = .system,
        jitter: @escaping @Sendable (UInt64) -> UInt64 = { _ in 0 },
        requirements: @escaping @Sendable (TransferRequest) -> Bool = { _ in true },
        permits: @escaping @Sendable (String, UInt16) -> Bool = { _, _ in true }
    ) async throws {
        let folder = try folder ?? TemporaryDirectory()
        self.folder = folder
        self.clock = clock
        self.journal = journal ?? MemoryTransferJournal()
        var network = network
        network.connectTimeout = .patient
        engine = TransferEngine(
            limits: limits,
            journal: self.journal,
            names: names,
            network: network,
            clock: clock,
            observer: witness,
            requirements: requirements,
            random: jitter
        ) { plugin in
            guard plugin == "p" else { return nil }
            return TransferAccess(
                writable: [folder.path],
                readable: [folder.path],
                permits: permits
            )
        }
        try await engine.recover()
    }

    /// A download of a URL into `file`.
    func download(_ url: String, to file: String = "file", session: String = "s") -> TransferRequest
    {
        request(.download, url, file, session)
    }

    /// An upload of `file` to a URL.
    func upload(_ url: String, _ form: UploadForm, from file: String = "file") -> TransferRequest {
        request(.upload(form), url, file, "s")
    }

    private func request(_ kind: TransferKind, _ url: String, _ file: String, _ session: String)
        -> TransferRequest
    {
        let number = serial.withLock { serial in
            serial += 1
            return serial
        }
        return TransferRequest(
            id: RunID(high: 1, low: UInt64(number)),
            plugin: "p",
            session: session,
            kind: kind,
            url: url,
            file: folder.file(file),
            createdAt: clock.unixNow
        )
    }

    /// What lies in the folder, hidden files too.
    var files: [String] { ((try? File.list(folder.path)) ?? []).sorted() }

    func content(_ name: String = "file") throws -> Bytes {
        Bytes(try File.read(folder.file(name)))
    }
}

extension Duration {
    /// A test's server may have to wait for a processor.
    static var patient: Duration { .seconds(3600) }
}

extension NetworkSettings {
    /// The timeouts of this process, for servers that may have to wait for a processor.
    static var patient: NetworkSettings {
        var settings = NetworkSettings.system
        settings.connectTimeout = .patient
        return settings
    }
}

/// Runs a test with an engine, which is shut down after.
func withBench(
    _ bench: TransferBench,
    _ body: (TransferBench) async throws -> Void
) async throws {
    do {
        try await body(bench)
    } catch {
        await bench.engine.shutDown()
        throw error
    }
    await bench.engine.shutDown()
}

/// Keeps what an engine tells, and waits for it.
final class TransferWitness: TransferObserver {
    private struct Wait {
        let isIt: @Sendable (TransferRecord) -> Bool
        let continuation: CheckedContinuation<TransferRecord, Never>
    }

    private struct State {
        var records: [TransferRecord] = []
        var ends: [SessionEnd] = []
        var errors: [TransferJournalError] = []
        var expired: [TransferRecord] = []
        var dropped: [TransferRecord] = []
        var waits: [Wait] = []
        var endWaits: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var records: [TransferRecord] { state.withLock { $0.records } }
    var ends: [SessionEnd] { state.withLock { $0.ends } }
    var errors: [TransferJournalError] { state.withLock { $0.errors } }
    var expired: [TransferRecord] { state.withLock { $0.expired } }
    var dropped: [TransferRecord] { state.withLock { $0.dropped } }
    /// The faults of all attempts, in order.
    var faults: [TransferFault.Code] {
        records.filter { [.retrying, .failed].contains($0.status.state) }
            .compactMap { $0.status.fault?.code }
    }

    func transferChanged(_ record: TransferRecord) {
        let due = state.withLock { state in
            state.records.append(record)
            let due = state.waits.filter { $0.isIt(record) }
            state.waits.removeAll { $0.isIt(record) }
            return due
        }
        for wait in due { wait.continuation.resume(returning: record) }
    }

    func sessionEnded(_ end: SessionEnd) {
        let due = state.withLock { state in
            state.ends.append(end)
            let count = state.ends.count
            let due = state.endWaits.filter { $0.count <= count }
            state.endWaits.removeAll { $0.count <= count }
            return due
        }
        for wait in due { wait.continuation.resume() }
    }

    func endsExpired(_ records: [TransferRecord]) {
        state.withLock { $0.expired += records }
    }

    func keptEndsDropped(_ records: [TransferRecord]) {
        state.withLock { $0.dropped += records }
    }

    func journalFailed(_ error: TransferJournalError) {
        state.withLock { $0.errors.append(error) }
    }

    /// Returns the first record, from the beginning on, of which something is so.
    func first(_ isIt: @escaping @Sendable (TransferRecord) -> Bool) async -> TransferRecord {
        await withCheckedContinuation { continuation in
            let record: TransferRecord? = state.withLock { state in
                if let record = state.records.first(where: isIt) { return record }
                state.waits.append(Wait(isIt: isIt, continuation: continuation))
                return nil
            }
            if let record { continuation.resume(returning: record) }
        }
    }

    func first(_ wanted: TransferState) async -> TransferRecord {
        await first { $0.status.state == wanted }
    }

    /// Returns after this number of ends has been delivered.
    func ends(count: Int) async -> [SessionEnd] {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isThere = state.withLock { state in
                if state.ends.count >= count { return true }
                state.endWaits.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return ends
    }
}

/// Bytes that are the same each time and hard to mistake for others.
func sample(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        withUnsafeBytes(of: generator.next()) { bytes += $0 }
    }
    return Array(bytes.prefix(count))
}

/// Counts calls.
final class Counter: Sendable {
    private let count = Mutex(0)

    /// 1 for the first call.
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Many bytes, which a failed expectation neither prints nor looks for the differences of: that
/// would take it hours.
struct Bytes: Equatable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var description: String { "\(bytes.count) bytes" }

    /// A debug build compares arrays byte by byte through a protocol.
    static func == (one: Bytes, other: Bytes) -> Bool {
        one.bytes.count == other.bytes.count && memcmp(one.bytes, other.bytes, one.bytes.count) == 0
    }
}
