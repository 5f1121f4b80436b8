// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules

/// Ends that wait for their session.
extension TransferEngine {
    /// Keeps ends that a wake has told of and that its run did not take: from here on no wake tells of
    /// them, and they wait for a run that claims them.
    package func keepEnds(_ ids: [RunID], in session: SessionKey) {
        var changes: [TransferChange] = []
        for id in sessions.acknowledge(ids, in: session) {
            guard var record = ended[id] else { continue }
            record.status.isKept = true
            ended[id] = record
            sessions.recover(ended: id, in: session, isQuiet: true)
            changes.append(.changed(id, record.status))
        }
        guard !changes.isEmpty else { return }
        keep(changes)
        boundKept(of: session.plugin)
        reportIfComplete(session)
    }

    /// Drops the oldest of the kept ends that a plugin has too many of.
    private func boundKept(of plugin: String) {
        let kept = ended.values.filter { record in
            record.status.isKept && record.request.plugin == plugin
        }
        var room = (count: limits.keptPerPluginMax, bytes: limits.keptPerPluginBytesMax)
        guard kept.count > room.count || kept.reduce(0, { $0 + $1.endBytes }) > room.bytes else {
            return
        }
        var dropped: [TransferRecord] = []
        for record in kept.sorted(by: { Self.order($0) > Self.order($1) }) {
            room.count -= 1
            room.bytes -= record.endBytes
            // A run has it, and says what becomes of it.
            guard min(room.count, room.bytes) < 0, !handedOut.contains(record.request.id) else {
                continue
            }
            dropped.append(record)
        }
        guard !dropped.isEmpty else { return }
        for record in dropped {
            // The session may have handed the end out before, and then no longer lists it.
            _ = sessions.acknowledge([record.request.id], in: record.sessionKey)
            ended[record.request.id] = nil
            drop(record)
        }
        keep(dropped.map { .removed($0.request.id) })
        observer?.keptEndsDropped(dropped.reversed())
    }

    private static func order(_ record: TransferRecord) -> (Int64, RunID) {
        (record.status.endedAt ?? 0, record.request.id)
    }

    /// Hands the ends of a session of which no wake tells to a run: no other gets them until `giveBack`.
    ///
    /// - Parameter bytesMax: of the JSON; 0 asks for its length alone.
    /// - Returns: those that fit. Where it says what is needed, nothing was handed over.
    package func claim(in session: SessionKey, bytesMax: Int) -> TransferPage {
        let records = isShutDown ? [] : sessions.quiet(in: session).compactMap { ended[$0] }
        let page = TransferPage(
            of: records.map { TransferDescription($0) },
            bytesMax: bytesMax == 0 ? .max : bytesMax
        )
        guard bytesMax > 0 else { return page }
        // The page was made of what the session lists.
        _ = sessions.acknowledge(page.ids, in: session)
        handedOut.formUnion(page.ids)
        claimed.formUnion(page.ids)
        return page
    }

    /// Removes and returns the ends that a run has claimed and now acknowledges.
    func takeClaimed(_ ids: [RunID], in session: SessionKey) -> [RunID] {
        ids.filter { id in
            guard ended[id]?.sessionKey == session, claimed.remove(id) != nil else { return false }
            handedOut.remove(id)
            return true
        }
    }
}
