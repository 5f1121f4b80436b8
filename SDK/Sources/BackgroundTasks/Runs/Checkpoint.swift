// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials

/// What a run saves, so that the next attempt of its request can go on from there.
///
/// The methods wait for the daemon off the caller's actor: some milliseconds as a rule, 5 seconds at
/// most. A cancelled run can call them until it is over, so that a handler can save in its grace.
extension TaskContext {
    /// The most bytes of a checkpoint, 64 KiB.
    public static var checkpointBytesMax: Int { Int(BG_CHECKPOINT_MAX) }

    /// Saves a value as JSON, instead of what was saved before.
    ///
    /// After it returns, the value survives a crash of the worker, a restart of the daemon and a power
    /// cut. The host deletes it when the request ends: when a run of it succeeds, when it is withdrawn,
    /// or when an operator discards its dead letter.
    ///
    ///     var done = try await context.savedCheckpoint(as: Int.self) ?? 0
    ///     while done < pages.count {
    ///         try await upload(pages[done])
    ///         done += 1
    ///         try await context.checkpoint(done)
    ///     }
    ///
    /// - Parameter value: encodes to at most ``checkpointBytesMax`` bytes of JSON.
    /// - Throws: ``CheckpointError``, or the error of the encoder. What was saved before is kept.
    @concurrent
    public func checkpoint(_ value: some Encodable & Sendable) async throws {
        try save(JSON.encode(value))
    }

    /// Saves bytes, instead of what was saved before; as ``checkpoint(_:)`` with a value.
    ///
    /// - Parameter bytes: at most ``checkpointBytesMax``; no bytes delete the checkpoint.
    /// - Throws: ``CheckpointError``. What was saved before is kept.
    @concurrent
    public func checkpoint(_ bytes: Data) async throws { try save(bytes) }

    /// Decodes the checkpoint of an earlier attempt, or what this run has saved.
    ///
    /// - Parameter type: the type of the value that was saved. Also a later version of the handler gets it.
    /// - Returns: the value; `nil` if there is none.
    /// - Throws: `MismatchError`, which names the place, if it does not match the type. ``CheckpointError``
    ///   if the host cannot read it: let the run fail then, since it would begin from the start.
    @concurrent
    public func savedCheckpoint<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self
    ) async throws -> Value? {
        guard let bytes = try load() else { return nil }
        return try JSON.decode(
            type,
            from: String(decoding: bytes, as: UTF8.self),
            what: "checkpoint"
        )
    }

    /// The bytes of the checkpoint of an earlier attempt, or of what this run has saved.
    ///
    /// - Returns: the bytes, at least one; `nil` if there is no checkpoint.
    /// - Throws: ``CheckpointError`` if the host cannot read it.
    @concurrent
    public func savedCheckpointBytes() async throws -> Data? { try load() }

    /// Deletes the checkpoint of the run's request.
    ///
    /// - Throws: ``CheckpointError``.
    @concurrent
    public func deleteCheckpoint() async throws { try save(Data()) }

    private var checkpoints: ExtensionTable<bg_checkpoints>? {
        host.extension(BG_EXT_CHECKPOINT, as: bg_checkpoints.self)
    }

    private func save(_ bytes: Data) throws(CheckpointError) {
        guard let save = checkpoints?.save else { throw CheckpointError(BG_E_ABSENT) }
        let status = bytes.withUnsafeBytes { save(host.pointer, run, $0.baseAddress, $0.count) }
        guard status == BG_OK else { throw CheckpointError(status) }
    }

    private func load() throws(CheckpointError) -> Data? {
        guard let load = checkpoints?.load else { throw CheckpointError(BG_E_ABSENT) }
        var bytes = Data(count: Self.checkpointBytesMax)
        var need = 0
        let status = bytes.withUnsafeMutableBytes {
            load(host.pointer, run, $0.baseAddress, $0.count, &need)
        }
        if status == BG_E_ABSENT { return nil }
        guard status == BG_OK else { throw CheckpointError(status) }
        return bytes.prefix(need)
    }
}

/// Why a checkpoint was not saved or not read.
public struct CheckpointError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The host cannot store or read it now.
        case failed
        /// It is longer than `TaskContext.checkpointBytesMax`, or the plugin has no memory left in the
        /// daemon.
        case limitExceeded
        /// This host has no checkpoints, or the run is over.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and what to do, in one line.
    public let description: String

    /// Creates an error, for tests of handlers.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - description: what is wrong and what to do, in one line.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ status: bg_status) {
        switch status {
        case BG_E_LIMIT:
            self.init(
                .limitExceeded,
                "the checkpoint is over a limit: it may have \(TaskContext.checkpointBytesMax) bytes,"
                    + " and the daemon's log says if the plugin has no memory left; save less"
            )
        case BG_E_ABSENT: self.init(.unavailable, "this host has no checkpoints; update bghost")
        case BG_E_STALE: self.init(.unavailable, "the run is over, so nothing is saved for it")
        case BG_E_CLOSED: self.init(.unavailable, "the plugin is closed")
        default:
            self.init(
                .failed,
                "the host cannot store or read the checkpoint now (status \(status)); try again"
            )
        }
    }
}
