// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials
internal import Synchronization

/// The host's extension `bghost.transfer/1`.
struct Transfers: @unchecked Sendable {
    private let host: Host
    // Never changed or freed by the host, like its main table.
    private let table: UnsafePointer<bg_transfers>

    /// Finds it; `nil` if the host carries no transfers.
    init?(_ host: Host?) {
        guard let host, let table = host.extension(BG_EXT_TRANSFER, as: bg_transfers.self) else {
            return nil
        }
        self.host = host
        self.table = table
    }

    /// Begins a transfer, which is stored once this returns.
    ///
    /// - Returns: its id.
    func begin(_ request: TransferRequest, of run: bg_run) throws -> String {
        var transfer = bg_transfer()
        let status = try request.withCRequest { request in
            table.pointee.begin?(host.pointer, run, request, &transfer) ?? BG_E_ABSENT
        }
        guard status == BG_OK else { throw URLError(status, request.url, "transfer") }
        return withUnsafeBytes(of: transfer.id) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Waits for an end; returns at once.
    ///
    /// - Parameter done: called once, with `nil` if the transfer goes on without the run.
    /// - Returns: `false` if it is not waited for, and `done` is not called.
    func wait(
        _ id: String,
        of run: bg_run,
        _ done: @escaping @Sendable (TransferRecord?) -> Void
    ) -> Bool {
        // The host's reference, given back by its call, or here if it does not wait.
        let held = Unmanaged.passRetained(EndedTransfer(done))
        let status = withTransfer(id) { transfer in
            table.pointee.wait?(
                host.pointer,
                run,
                transfer,
                { held, end in EndedTransfer.ended(held, end) },
                held.toOpaque()
            ) ?? BG_E_ABSENT
        }
        if status != BG_OK { held.release() }
        return status == BG_OK
    }

    func cancel(_ id: String) {
        _ = withTransfer(id) { table.pointee.cancel?(host.pointer, $0) }
    }

    /// All of a session that are under way or not yet dealt with, the oldest first.
    func list(_ session: String, after: String? = nil) -> [TransferRecord] {
        var all: [TransferRecord] = []
        var after = after
        while let page = page(session, after), !page.isEmpty, page.last?.id != after {
            all += page
            after = page.last?.id
        }
        return all
    }

    private func page(_ session: String, _ after: String?) -> [TransferRecord]? {
        // As many as fit are told: a mebibyte has room for the largest.
        let capacity = 1 << 20
        var length = 0
        var status = BG_E_ABSENT
        let bytes = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
            status = session.withBgStr { session in
                withTransfer(after) { after in
                    table.pointee.list?(
                        host.pointer,
                        session,
                        after,
                        buffer.baseAddress,
                        capacity,
                        &length
                    ) ?? BG_E_ABSENT
                }
            }
            count = status == BG_OK ? min(length, capacity) : 0
        }
        guard status == BG_OK else { return nil }
        let data = Data(bytes.map { UInt8(bitPattern: $0) })
        return try? JSONDecoder().decode([TransferRecord].self, from: data)
    }

    private func withTransfer<Answer>(
        _ id: String?,
        _ body: (UnsafePointer<bg_transfer>?) -> Answer
    ) -> Answer {
        guard let id else { return body(nil) }
        var transfer = bg_transfer()
        withUnsafeMutableBytes(of: &transfer.id) { field in
            field.copyBytes(from: id.utf8.prefix(field.count - 1))
        }
        return withUnsafePointer(to: transfer) { body($0) }
    }
}

/// Whoever is told of an end.
private final class EndedTransfer: Sendable {
    private let done: @Sendable (TransferRecord?) -> Void

    init(_ done: @escaping @Sendable (TransferRecord?) -> Void) { self.done = done }

    static func ended(_ held: UnsafeMutableRawPointer?, _ end: UnsafePointer<bg_transfer_end>?) {
        guard let held else { return }
        let wait = Unmanaged<EndedTransfer>.fromOpaque(held).takeRetainedValue()
        guard let end, Int(end.pointee.size) >= MemoryLayout<bg_transfer_end>.size,
            end.pointee.status == BG_OK
        else { return wait.done(nil) }
        let text = Data(String(end.pointee.transfer).utf8)
        wait.done(try? JSONDecoder().decode(TransferRecord.self, from: text))
    }
}

extension URLError {
    /// An error of what the host answered.
    init(_ status: bg_status, _ url: URL?, _ what: String) {
        switch status {
        case BG_E_PERM:
            self.init(
                .appTransportSecurityRequiresSecureConnection,
                url,
                "not permitted: in tasks.json, list host and port in the plugin's "
                    + "`permissions.network`, a file's folder in `permissions.read`, and a "
                    + "background session under `sessions`"
            )
        case BG_E_LIMIT: self.init(.dataLengthExceedsMaximum, url, "over a limit of the host's")
        case BG_E_ARG: self.init(.badURL, url, "the host does not understand this \(what)")
        case BG_E_ABSENT: self.init(.notConnectedToInternet, url, "this host has no \(what)s")
        case BG_E_STALE: self.init(.cancelled, url, "the run is over")
        case BG_E_CLOSED:
            self.init(.backgroundSessionWasDisconnected, url, "the plugin is closed")
        case BG_E_CANCELLED: self.init(.cancelled, url, "the run is asked to stop")
        default: self.init(.unknown, url, "the \(what) failed with status \(status)")
        }
    }

    /// An error of a fetch.
    init(_ error: FetchError, _ url: URL?) {
        let code: Code =
            switch error.code {
            case .failed:
                error.description.contains("within its") ? .timedOut : .networkConnectionLost
            case .notPermitted: .appTransportSecurityRequiresSecureConnection
            case .limitExceeded: .dataLengthExceedsMaximum
            case .invalidRequest: .badURL
            case .unavailable: .notConnectedToInternet
            }
        self.init(code, url, error.description)
    }
}
