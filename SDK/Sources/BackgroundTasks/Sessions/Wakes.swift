// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// The host's extension `bghost.wake/1`.
struct Wakes: @unchecked Sendable {
    private let host: Host
    // Never changed or freed by the host, like its main table.
    private let table: ExtensionTable<bg_wakes>

    /// Finds it; `nil` if the host keeps no ends for their sessions.
    init?(_ host: Host?) {
        guard let host, let table = host.extension(BG_EXT_WAKE, as: bg_wakes.self) else {
            return nil
        }
        self.host = host
        self.table = table
    }

    /// As many as the host takes at once.
    private static let countMax = 1024

    /// Has the host keep ends that a wake does not take.
    ///
    /// - Returns: whether it keeps all of them.
    func keep(_ ids: [String], of run: bg_run) -> Bool {
        var rest = ids.map { bg_transfer($0) }[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(Self.countMax))
            rest = rest.dropFirst(some.count)
            let status = some.withUnsafeBufferPointer { some in
                table.keep?(host.pointer, run, some.baseAddress, some.count) ?? BG_E_ABSENT
            }
            guard status == BG_OK else { return false }
        }
        return true
    }

    /// Claims all that is kept for a session, the oldest first.
    func claim(_ session: String, of run: bg_run) -> [TransferRecord] {
        var all: [TransferRecord] = []
        var seen: Set<String> = []
        // Until there are no more; a host that says the same again has no more to say.
        while let page = page(session, run), page.contains(where: { !seen.contains($0.id) }) {
            all += page.filter { seen.insert($0.id).inserted }
        }
        return all
    }

    private func page(_ session: String, _ run: bg_run) -> [TransferRecord]? {
        let data = Transfers.listed { buffer, capacity, length in
            session.withBgStr {
                table.claim?(host.pointer, run, $0, buffer, capacity, length) ?? BG_E_ABSENT
            }
        }
        // A host that answers with anything else keeps nothing.
        return data.flatMap { try? JSONDecoder().decode([TransferRecord].self, from: $0) }
    }
}
