// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules

/// The status of a transfer, for operators.
package struct TransferView: Codable, Equatable, Sendable {
    /// Its id.
    @Formatted<ULID> package var id: RunID
    /// The plugin that began it.
    package var plugin: String
    /// The session that began it.
    package var session: String
    /// The address of the other end.
    @OrDefault package var url: String
    /// The text by which its plugin knows it; "" if there is none.
    @OrDefault package var label: String
    /// The path of its file.
    @OrDefault package var file: String
    /// Whether it is an upload.
    @OrDefault package var isUpload: Bool
    /// The name of its state in the ABI.
    package var stateName: String
    /// The bytes transferred so far.
    @OrDefault package var bytes: Int64
    /// The length of the file, bytes; `nil` if it is unknown.
    @OrNull package var total: Int64?
    /// The HTTP status at its end; 0 if there is none.
    @OrDefault package var status: Int
    /// The last fault; "" if there was none.
    @OrDefault package var fault: String
    /// Failed attempts in a row without progress.
    @OrDefault package var failures: Int
    /// Whether a run waits for its end.
    @OrDefault package var isAwaited: Bool
    /// A few words on what it waits for; "" if it does not wait.
    @OrDefault package var waitingFor: String
    /// When it began, Unix nanoseconds.
    @Formatted<RFC3339> package var createdAt: Int64
    /// Unix nanoseconds; `nil` if it has not ended.
    @FormOrNull<RFC3339> package var endedAt: Int64?

    private enum CodingKeys: String, CodingKey {
        case id, plugin, session, url, label, file
        case isUpload = "upload"
        case stateName = "state"
        case bytes, total, status, fault, failures
        case isAwaited = "awaited"
        case waitingFor, createdAt, endedAt
    }

    /// Creates a view of a record.
    ///
    /// - Parameter bytes: the bytes transferred so far.
    package init(_ record: TransferRecord, bytes: Int64, waitingFor: String = "") {
        let description = TransferDescription(record, bytes: bytes)
        id = record.request.id
        plugin = record.request.plugin
        session = record.request.session
        url = record.request.url
        label = record.request.label
        file = record.request.file
        isUpload = description.isUpload
        stateName = description.stateName
        self.bytes = description.bytes
        total = description.total
        status = record.status.answer?.status ?? record.status.fault?.status ?? 0
        fault = record.status.fault?.detail ?? ""
        failures = record.status.failures
        isAwaited = !record.status.isDetached
        self.waitingFor = waitingFor
        createdAt = record.request.createdAt
        endedAt = record.status.endedAt
    }

    /// Creates a view from parsed values.
    init(
        id: RunID,
        plugin: String,
        session: String,
        url: String,
        isUpload: Bool,
        stateName: String,
        bytes: Int64,
        total: Int64?,
        createdAt: Int64
    ) {
        self.id = id
        self.plugin = plugin
        self.session = session
        self.url = url
        self.isUpload = isUpload
        self.stateName = stateName
        self.bytes = bytes
        self.total = total
        self.createdAt = createdAt
        label = ""
        file = ""
        status = 0
        fault = ""
        failures = 0
        isAwaited = false
        waitingFor = ""
        endedAt = nil
    }

    /// Whether its state is final.
    package var isOver: Bool {
        TransferState(rawValue: stateName)?.isTerminal ?? false
    }

    /// The progress, 0 to 100 per cent; `nil` if it is unknown.
    package var percent: Int? {
        guard let total else { return nil }
        guard total > 0 else { return isOver ? 100 : 0 }
        return Int(max(0, min(100, Double(bytes) / Double(total) * 100)))
    }
}

extension TransferView {
    /// The transfer whose id has this prefix.
    package static func named(
        _ prefix: String,
        in views: [TransferView]
    ) throws(OperatorRefusal) -> TransferView {
        let found = views.filter { $0.id.description.hasPrefix(prefix.uppercased()) }
        guard let first = found.first, found.count == 1, !prefix.isEmpty else {
            let shown = PrintableText.escaped(String(prefix.prefix(40)))
            throw OperatorRefusal(
                found.isEmpty || prefix.isEmpty ? .noSuchTransfer : .ambiguousTransfer,
                found.isEmpty || prefix.isEmpty
                    ? "there is no transfer whose id begins with \(shown)"
                    : "\(found.count) transfers have an id that begins with \(shown)",
                fix: found.isEmpty || prefix.isEmpty
                    ? "bghost transfers lists them" : "give more characters",
                candidates: found.prefix(8).map(\.id.description)
            )
        }
        return first
    }
}

/// The number of transfers.
package struct TransferCounts: Codable, Equatable, Sendable {
    /// Not ended.
    @OrDefault package var underWay: Int
    /// Ended and not acknowledged.
    @OrDefault package var ended: Int

    package init(underWay: Int = 0, ended: Int = 0) {
        self.underWay = underWay
        self.ended = ended
    }
}
