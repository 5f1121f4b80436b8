// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// Writes received data to the unfinished file.
///
/// While one piece is being written, the next one is received. A third is not received before the
/// first is written, so a slow disk slows the sender down and does not fill the memory. From time
/// to time the writer syncs the file in the background and reports how far it is durable.
struct PartWriter {
    /// How many bytes justify a write before `syncInterval` has passed.
    ///
    /// A larger piece would wait for data that may not arrive: unwritten data is lost with the
    /// process, and with a thousand slow transfers it fills the memory.
    static let pieceBytes = 64 << 10
    /// How many bytes justify a sync before `syncInterval` has passed.
    static let syncBytes: Int64 = 8 << 20
    static let syncInterval: UInt64 = 1_000_000_000
    /// Below this many bytes a sync is not worth its cost.
    static let syncBytesMin: Int64 = 64 << 10

    private let part: PartFile
    private let clock: any TransferClock
    private let synced: @Sendable (Int64) -> Void
    private let isSyncing = Flag()
    private var waiting: [ByteBuffer] = []
    private var waitingBytes = 0
    private var underway: EventLoopFuture<Void>?
    /// The offset of the next received byte.
    private(set) var end: Int64
    /// All bytes before this offset are written.
    private(set) var written: Int64
    private var begunAt: UInt64
    private var syncedTo: Int64
    private var syncedAt: UInt64

    /// - Parameter synced: called on any thread with the offset up to which the file is durable.
    init(
        _ part: PartFile,
        at offset: Int64,
        clock: any TransferClock,
        synced: @escaping @Sendable (Int64) -> Void
    ) {
        self.part = part
        self.clock = clock
        self.synced = synced
        end = offset
        written = offset
        begunAt = clock.now
        syncedTo = offset
        syncedAt = clock.now
    }

    mutating func add(_ buffer: ByteBuffer) async throws {
        waiting.append(buffer)
        waitingBytes += buffer.readableBytes
        end += Int64(buffer.readableBytes)
        guard isDue else { return }
        try await begin()
        syncIfDue()
    }

    private var isDue: Bool {
        waitingBytes >= Self.pieceBytes || clock.now &- begunAt >= Self.syncInterval
    }

    /// Returns when all added bytes are written.
    mutating func flush() async throws {
        try await begin()
        try await settle()
    }

    /// Starts the write of the waiting bytes, after the previous write has ended.
    private mutating func begin() async throws {
        try await settle()
        guard !waiting.isEmpty else { return }
        let (part, buffers, offset) = (part, waiting, end - Int64(waitingBytes))
        waiting = []
        waitingBytes = 0
        begunAt = clock.now
        underway = DiskThreads.begin { try part.write(buffers, at: offset) }
    }

    private mutating func settle() async throws {
        guard let future = underway else { return }
        underway = nil
        try await future.get()
        written = end - Int64(waitingBytes)
    }

    private mutating func syncIfDue() {
        let gained = written - syncedTo
        let isDue =
            gained >= Self.syncBytes
            || gained >= Self.syncBytesMin && clock.now &- syncedAt >= Self.syncInterval
        guard isDue, isSyncing.raise() else { return }
        syncedTo = written
        syncedAt = clock.now
        // Not awaited: the last sync, at the end of the download, is awaited.
        _ = DiskThreads.begin { [part, synced, isSyncing, written] in
            defer { isSyncing.lower() }
            // If this sync fails, the last one fails too, and that failure is reported.
            guard (try? part.sync()) != nil else { return }
            synced(written)
        }
    }
}

/// A flag that admits one holder at a time.
final class Flag: Sendable {
    private let isRaised = Atomic(false)

    /// - Returns: whether the flag was down, so that the caller now holds it.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiring) }

    func lower() { isRaised.store(false, ordering: .releasing) }
}
