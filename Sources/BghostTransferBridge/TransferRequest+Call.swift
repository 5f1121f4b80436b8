// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostTransferRules
internal import BghostTransfer
package import BghostWire

/// The `BG_TRANSFER_*` flags.
private enum TransferFlags {
    static let upload: UInt32 = 1
    static let form: UInt32 = 2
    static let resumable: UInt32 = 4
    static let discretionary: UInt32 = 8
    static let noWake: UInt32 = 16
}

extension TransferRequest {
    /// Converts a plugin's call, within the limits of its session.
    ///
    /// The engine checks hosts and files with each attempt.
    package init(
        _ call: TransferBegin,
        id: RunID,
        session: SessionDefinition,
        dataDirectory: String,
        epoch: UInt64,
        now: Int64
    ) throws(TransferFault) {
        let isUpload = call.flags & TransferFlags.upload != 0
        guard isUpload || call.flags & (TransferFlags.form | TransferFlags.resumable) == 0 else {
            throw Self.fault("it is a download, with flags of an upload")
        }
        guard !isUpload || !call.file.isEmpty else {
            throw Self.fault("it is an upload of no file")
        }
        guard !isUpload || call.body.isEmpty else {
            throw Self.fault("it is an upload, whose body is its file, and has a body besides")
        }
        self.init(
            id: id,
            plugin: session.plugin,
            session: session.name,
            kind: try Self.kind(call, isUpload: isUpload),
            url: call.url,
            file: call.file.isEmpty ? "\(dataDirectory)/transfer-\(id)" : call.file,
            createdAt: now
        )
        method = call.method
        headers = try Self.headers(call.headers)
        headers.append(TransferHeader(Fence.header, String(epoch)))
        body = call.body
        digest = try Self.digest(call.digest)
        // As JSON, the continuation must fit into the parameters of a wake.
        guard JSONNode(.string(call.continuation)).text.utf8.count <= Self.continuationBytesMax + 2
        else {
            throw TransferFault(
                .tooLarge,
                "its continuation has more than \(Self.continuationBytesMax) bytes as JSON"
            )
        }
        continuation = Array(call.continuation.utf8)
        label = call.label
        hasOwnPlace = !isUpload && call.file.isEmpty
        isDiscretionary =
            session.isDiscretionary || call.flags & TransferFlags.discretionary != 0
        notifiesSession = call.flags & TransferFlags.noWake == 0 && session.sendsLaunchEvents
        if call.earliestUnixMilliseconds > 0 {
            let (date, overflow) = call.earliestUnixMilliseconds
                .multipliedReportingOverflow(by: 1_000_000)
            notBefore = overflow ? .max : date
        }
        bytesMax = min(call.bytesMax == 0 ? .max : call.bytesMax, session.fileBytesMax)
        if call.idleTimeoutMilliseconds > 0 {
            idleTimeout =
                UInt64(min(call.idleTimeoutMilliseconds, Self.dayMilliseconds)) * 1_000_000
        }
        resourceTimeout = session.resourceTimeout.clampedNanoseconds
        if call.totalTimeoutMilliseconds > 0 {
            let asked = UInt64(call.totalTimeoutMilliseconds).multipliedReportingOverflow(
                by: 1_000_000
            )
            if !asked.overflow { resourceTimeout = min(resourceTimeout, asked.partialValue) }
        }
    }

    private static let dayMilliseconds: Int64 = 86_400_000

    private static func kind(
        _ call: TransferBegin,
        isUpload: Bool
    ) throws(TransferFault) -> TransferKind {
        guard isUpload else { return .download }
        let isForm = call.flags & TransferFlags.form != 0
        let isResumable = call.flags & TransferFlags.resumable != 0
        guard !isForm || !isResumable else {
            throw fault("a form cannot be resumed: leave one of the two flags out")
        }
        if isResumable { return .upload(.negotiated) }
        guard isForm else { return .upload(.whole) }
        let name = call.file.split(separator: "/").last.map(String.init) ?? "file"
        return .upload(
            .multipart(
                field: call.formField.isEmpty ? "file" : call.formField,
                fileName: call.formName.isEmpty ? name : call.formName,
                contentType: call.formType.isEmpty ? "application/octet-stream" : call.formType
            )
        )
    }

    private static func headers(_ lines: String) throws(TransferFault) -> [TransferHeader] {
        var headers: [TransferHeader] = []
        for line in lines.split(separator: "\n", omittingEmptySubsequences: true) {
            guard let colon = line.firstIndex(of: ":") else {
                throw fault(
                    "the header `\(PrintableText.escaped(String(line.prefix(64))))` has no"
                        + " colon"
                )
            }
            guard !Fence.isNamed(String(line[..<colon])) else {
                throw fault("the host sets the header `\(Fence.header)` itself: leave it out")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append(TransferHeader(String(line[..<colon]), String(value)))
        }
        return headers
    }

    private static func digest(_ text: String) throws(TransferFault) -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        let digits = Array(text.utf8)
        var bytes: [UInt8] = []
        guard digits.count == 64 else { throw fault("a SHA-256 has 64 hex digits") }
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = hexValue(digits[index]), let low = hexValue(digits[index + 1]) else {
                throw fault("a SHA-256 has 64 hex digits")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func fault(_ what: String) -> TransferFault {
        TransferFault(.badRequest, what)
    }
}
