// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The description of a transfer for plugins and operators.
package struct TransferDescription: Equatable, Sendable {
    var record: TransferRecord
    /// The bytes transferred so far.
    package var bytes: Int64
    /// The length of the file, bytes; `nil` if it is unknown.
    package var total: Int64?

    /// - Parameter bytes: the bytes transferred so far; `nil` means the recorded position.
    package init(_ record: TransferRecord, bytes: Int64? = nil) {
        self.record = record
        switch record.request.kind {
        case .download: total = record.point.total
        case .upload: total = record.point.source?.size
        }
        self.bytes = bytes ?? record.point.bytes
        if record.status.state == .done {
            self.bytes = record.status.answer?.bytes ?? self.bytes
            total = self.bytes
        }
        self.bytes = min(self.bytes, total ?? .max)
    }

    var id: RunID { record.request.id }

    package var isUpload: Bool {
        if case .upload = record.request.kind { return true }
        return false
    }

    /// The name of the state in the ABI.
    package var stateName: String {
        record.status.state == .queued
            ? TransferState.waiting.rawValue : record.status.state.rawValue
    }

    /// The amount of detail in the JSON.
    package enum Extent: Sendable {
        case all
        /// Without the server's response, which may be long.
        case withoutAnswer
        /// Also without the continuation, which may be long.
        case names
    }
}

extension JSONWriter {
    /// Writes a transfer as an object, in the format that `bghost.h` documents.
    package mutating func value(
        _ transfer: TransferDescription,
        _ extent: TransferDescription.Extent = .all
    ) {
        let request = transfer.record.request
        let status = transfer.record.status
        let continuation = extent == .names ? [] : request.continuation
        object { writer in
            writer.member("id", request.id.description)
            writer.member("session", request.session)
            writer.member("url", request.url)
            writer.member("label", request.label)
            writer.member("continuation", String(decoding: continuation, as: UTF8.self))
            writer.member("upload", transfer.isUpload)
            writer.member("state", transfer.stateName)
            writer.member("status", status.answer?.status ?? status.fault?.status ?? 0)
            writer.member("headers") { writer in
                writer.array { writer in
                    guard extent == .all else { return }
                    for header in status.answer?.headers ?? [] {
                        writer.array { writer in
                            writer.value(header.name)
                            writer.value(header.value)
                        }
                    }
                }
            }
            let body = extent == .all ? status.answer?.body ?? [] : []
            writer.member("body", String(decoding: body, as: UTF8.self))
            writer.member("file", request.file)
            writer.member("bytes", transfer.bytes)
            writer.member("total", transfer.total ?? -1)
            if status.isKept { writer.member("kept", true) }
            writer.key("fault")
            guard let fault = status.fault else { return writer.null() }
            writer.object { writer in
                writer.member("code", fault.code.rawValue)
                writer.member("message", fault.detail)
            }
        }
    }
}

/// A page of transfers, limited by the length of its JSON.
package struct TransferPage: Equatable, Sendable {
    /// A JSON array.
    package private(set) var json: String
    /// The ids of the transfers in it.
    package private(set) var ids: [RunID]
    /// Whether more transfers follow.
    package private(set) var hasMore: Bool
    /// The length of the array with the first transfer, bytes, if that transfer does not fit.
    package private(set) var need: Int?

    /// - Parameters:
    ///   - bytesMax: the maximum length of the array, bytes.
    ///   - mayCut: whether to shorten the first transfer if it does not fit, so that the page contains at
    ///     least one.
    package init(
        of transfers: some Sequence<TransferDescription>,
        bytesMax: Int,
        mayCut: Bool = false
    ) {
        var parts: [String] = []
        var count = 2
        ids = []
        hasMore = false
        for transfer in transfers {
            var text = Self.text(transfer, .all)
            if parts.isEmpty, mayCut, text.utf8.count + 2 > bytesMax {
                text = Self.text(transfer, .withoutAnswer)
                if text.utf8.count + 2 > bytesMax { text = Self.text(transfer, .names) }
            }
            let added = text.utf8.count + (parts.isEmpty ? 0 : 1)
            guard count + added <= bytesMax else {
                hasMore = true
                if parts.isEmpty { need = text.utf8.count + 2 }
                break
            }
            count += added
            parts.append(text)
            ids.append(transfer.id)
        }
        json = "[" + parts.joined(separator: ",") + "]"
    }

    private static func text(
        _ transfer: TransferDescription,
        _ extent: TransferDescription.Extent
    ) -> String {
        var writer = JSONWriter()
        writer.value(transfer, extent)
        return writer.text
    }
}
