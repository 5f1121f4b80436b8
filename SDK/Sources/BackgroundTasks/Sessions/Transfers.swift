// SPDX-License-Identifier: Apache-2.0

package import CBghost
internal import FoundationEssentials
internal import Synchronization

/// The host's extension `bghost.transfer/1`.
package struct Transfers: @unchecked Sendable {
    private let host: Host
    // The host never changes or frees this table, as with its main table.
    private let table: ExtensionTable<bg_transfers>

    /// Finds the extension; `nil` if the host does not support transfers.
    package init?(_ host: Host?) {
        guard let host, let table = host.extension(BG_EXT_TRANSFER, as: bg_transfers.self) else {
            return nil
        }
        self.host = host
        self.table = table
    }

    /// Starts a transfer, which the host has stored when this returns.
    ///
    /// - Returns: the id of the transfer.
    /// - Throws: `HostFailure`, or a `FetchError` if the request cannot be sent.
    package func begin(_ request: TransferRequest, of run: bg_run) throws -> String {
        var transfer = bg_transfer()
        var status = BG_E_ABSENT
        // The host refuses an equal request under way that has another continuation, which says the
        // kind of the task: the first kind counts.
        for isData in request.upload == nil ? [request.isData, !request.isData] : [false] {
            var request = request
            request.isData = isData
            status = try request.withCRequest { request in
                table.begin?(host.pointer, run, request, &transfer) ?? BG_E_ABSENT
            }
            guard status == BG_E_ARG else { break }
        }
        guard status == BG_OK else { throw HostFailure(status: status) }
        return withUnsafeBytes(of: transfer.id) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Registers for the end of a transfer; returns at once.
    ///
    /// - Parameter done: called once, with `nil` if the transfer continues without the run.
    /// - Returns: `false` if the host does not accept the wait; then `done` is not called.
    package func wait(
        _ id: String,
        of run: bg_run,
        _ done: @escaping @Sendable (TransferRecord?) -> Void
    ) -> Bool {
        // The host holds this reference. Its callback releases it, or this function if the host
        // does not accept the wait.
        let held = Unmanaged.passRetained(EndedTransfer(done))
        let status = withTransfer(id) { transfer in
            table.wait?(
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

    package func cancel(_ id: String) {
        // A transfer that has ended meanwhile reports that end, as on iOS.
        _ = withTransfer(id) { table.cancel?(host.pointer, $0) }
    }

    /// All transfers of a session that are in progress or not acknowledged, the oldest first.
    package func list(_ session: String, after: String? = nil) -> [TransferRecord] {
        var all: [TransferRecord] = []
        var after = after
        while let page = page(session, after), !page.isEmpty, page.last?.id != after {
            all += page
            after = page.last?.id
        }
        return all
    }

    /// An ended transfer has been dealt with.
    package func acknowledge(_ id: String) {
        // An end that is not acknowledged is reported again, which a handler must expect.
        _ = withTransfer(id) { table.acknowledge?(host.pointer, $0) }
    }

    private func page(_ session: String, _ after: String?) -> [TransferRecord]? {
        let data = Self.listed { buffer, capacity, length in
            session.withBgStr { session in
                withTransfer(after) { after in
                    table.list?(host.pointer, session, after, buffer, capacity, length)
                        ?? BG_E_ABSENT
                }
            }
        }
        // A host that answers with anything else has no list.
        return data.flatMap { try? JSONDecoder().decode([TransferRecord].self, from: $0) }
    }

    /// What the host writes into a buffer; `nil` if it does not answer with BG_OK.
    static func listed(
        _ ask: (
            _ buffer: UnsafeMutablePointer<CChar>?,
            _ capacity: Int,
            _ length: UnsafeMutablePointer<Int>
        ) -> bg_status
    ) -> Data? {
        // As many as fit are told: a mebibyte has room for the largest.
        let capacity = 1 << 20
        var length = 0
        var status = BG_E_ABSENT
        let bytes = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
            status = ask(buffer.baseAddress, capacity, &length)
            count = status == BG_OK ? min(length, capacity) : 0
        }
        return status == BG_OK ? Data(bytes.map { UInt8(bitPattern: $0) }) : nil
    }

    private func withTransfer<Answer>(
        _ id: String?,
        _ body: (UnsafePointer<bg_transfer>?) -> Answer
    ) -> Answer {
        guard let id else { return body(nil) }
        return withUnsafePointer(to: bg_transfer(id)) { body($0) }
    }
}

extension bg_transfer {
    /// Writes an id.
    init(_ id: String) {
        self.init()
        withUnsafeMutableBytes(of: &self.id) { field in
            field.copyBytes(from: id.utf8.prefix(field.count - 1))
        }
    }
}

/// Holds the callback for the end of a transfer.
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
        // The waiting run is told that the end is not known, as after any other failure.
        wait.done(try? JSONDecoder().decode(TransferRecord.self, from: text))
    }
}

/// The status with which the host has refused a call.
package struct HostFailure: Error {
    package let status: bg_status
}
