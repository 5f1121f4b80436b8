// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostTransfer

/// What the host knows of transfers.
///
/// It belongs to the host's executor; the engine has an executor of its own.
final class TransferTable {
    /// What a run has been told of.
    struct Told {
        let session: SessionKey
        let transfers: [RunID]
    }

    let engine: TransferEngine
    let journal: any TransferJournal
    let desk: TransferDesk
    /// By name.
    let sessions: [String: SessionDefinition]
    /// Whether wakes may be made: not before what waits has been taken over.
    var hasStarted = false
    /// What has ended in each session and is not dealt with.
    var ends: [SessionKey: SessionEnd] = [:]
    var limiters: [SessionKey: WakeLimiter] = [:]
    /// The run under way that began a transfer, which may be about to wait for it.
    var beganBy: [RunID: UInt64] = [:]
    /// What runs under way were told of, by their numbers.
    var told: [UInt64: Told] = [:]
    /// Runs under way that were told of ends and have begun transfers.
    var renewers: Set<UInt64> = []
    /// On their way to be acknowledged.
    var acknowledging: Set<RunID> = []
    /// What the engine is being told of ends, by number: it must hear all of it before it ends.
    var errands: [UInt64: Task<Void, Never>] = [:]
    var lastErrand: UInt64 = 0
    private var ids = RunIDSource()

    init(
        engine: TransferEngine,
        journal: any TransferJournal,
        desk: TransferDesk,
        sessions: [SessionDefinition]
    ) {
        self.engine = engine
        self.journal = journal
        self.desk = desk
        self.sessions = Dictionary(sessions.map { ($0.name, $0) }) { first, _ in first }
    }

    func nextID(unixNanoseconds: Int64) -> RunID {
        var random = SystemRandomNumberGenerator()
        return ids.next(unixMilliseconds: UInt64(max(0, unixNanoseconds)) / 1_000_000) {
            random.next()
        }
    }

    /// The session of a plugin by its name; `nil` if the manifest has none.
    func session(_ name: String, of plugin: String) -> SessionDefinition? {
        guard let session = sessions[name], session.plugin == plugin else { return nil }
        return session
    }

    /// Forgets that transfers of a session wait to be told of.
    ///
    /// - Returns: whether some did.
    func remove(_ transfers: [RunID], from key: SessionKey) -> Bool {
        guard var end = ends[key] else { return false }
        let count = end.transfers.count
        end.transfers.removeAll { transfers.contains($0.request.id) }
        ends[key] = end.transfers.isEmpty ? nil : end
        return end.transfers.count < count
    }
}
