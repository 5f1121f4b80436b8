// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import NIOCore
internal import Synchronization

/// Puts what arrives into the unfinished file.
///
/// While one piece is being written the next arrives; a third is not taken before the first is
/// written, so a slow disk slows the sender down and never fills the memory. Now and then what was
/// written is made durable in the background, and reported.
struct PartWriter {
    /// How much is worth a write, unless `syncInterval` has passed.
    ///
    /// More never waits for what may not come: what is not written is lost with the process, and a
    /// thousand slow transfers have it in memory.
    static let pieceBytes = 64 << 10
    /// How much is made durable at once, at the least, unless `syncInterval` has passed.
    static let syncBytes: Int64 = 8 << 20
    static let syncInterval: UInt64 = 1_000_000_000
    /// Less than this is not worth a sync.
    static let syncBytesMin: Int64 = 64 << 10

    private let part: PartFile
    private let clock: any TransferClock
    private let synced: @Sendable (Int64) -> Void
    private let isSyncing = Flag()
    private var waiting: [ByteBuffer] = []
    private var waitingBytes = 0
    private var underway: EventLoopFuture<Void>?
    /// Where the next byte goes.
    private(set) var end: Int64
    /// Up to where all is written.
    private var written: Int64
    private var begunAt: UInt64
    private var syncedTo: Int64
    private var syncedAt: UInt64

    /// - Parameter synced: is told up to where all is on the disk; on any thread.
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

    /// Returns when all is written that was added.
    mutating func flush() async throws {
        try await begin()
        try await settle()
    }

    /// Hands what waits to the disk, once that has taken what it was handed before.
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
        _ = DiskThreads.begin { [part, synced, isSyncing, written] in
            defer { isSyncing.lower() }
            // A sync that fails fails once more at the end, where it is heard.
            guard (try? part.sync()) != nil else { return }
            synced(written)
        }
    }
}

/// Something that one at a time may be at.
final class Flag: Sendable {
    private let isRaised = Atomic(false)

    /// - Returns: whether it was down.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiring) }

    func lower() { isRaised.store(false, ordering: .releasing) }
}
