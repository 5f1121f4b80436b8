// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost

/// Ends that wait for their session, as in the daemon, but for its bounds on how many there may be.
extension Engine {
    mutating func keep(_ run: UInt64, _ ids: [String]) -> Int32 {
        guard let live = runs[run] else { return BG_E_STALE }
        guard Set(ids).isSubset(of: live.notified) else { return BG_E_ABSENT }
        runs[run]?.unclaimed.formUnion(ids)
        return BG_OK
    }

    /// Gives a run the ends that wait for a session.
    ///
    /// - Parameter bytesMax: the longest array; 0 asks for its length alone, and claims nothing.
    /// - Returns: an array in JSON.
    mutating func claim(_ run: UInt64, of session: String, bytesMax: Int) -> String {
        var parts: [String] = []
        var count = 2
        for transfer in ordered where isClaimable(transfer, in: session) {
            let text = json(transfer)
            count += text.utf8.count + (parts.isEmpty ? 0 : 1)
            // The first end is included even if it does not fit, so that its size is known.
            guard bytesMax == 0 || count <= bytesMax || parts.isEmpty else { break }
            parts.append(text)
            if bytesMax > 0, count <= bytesMax { transfers[transfer.id]?.claimedBy = run }
            if bytesMax > 0, count > bytesMax { break }
        }
        return "[" + parts.joined(separator: ",") + "]"
    }

    private func isClaimable(_ transfer: OpenTransfer, in session: String) -> Bool {
        transfer.call.session == session && transfer.end != nil && !transfer.notifiesSession
            && transfer.claimedBy == nil
    }

    /// A run is over: what it has claimed and not acknowledged waits again.
    mutating func releaseClaims(by run: UInt64) {
        for id in transfers.keys where transfers[id]?.claimedBy == run {
            transfers[id]?.claimedBy = nil
        }
    }
}
