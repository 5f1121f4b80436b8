// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The next request of a download.
package enum DownloadAsk: Equatable, Sendable {
    /// No request: the file is complete.
    case nothing
    case whole
    /// A request for the remaining bytes, if the file on the server is still the same version.
    case rest(from: Int64, ifRange: String)
}

/// The meaning of a response for a download.
package enum DownloadVerdict: Equatable, Sendable {
    /// The body is the file from this byte on, with this length in bytes if it is known. The point replaces
    /// the previous one.
    case body(from: Int64, length: Int64?, TransferPoint)
    /// The file is complete.
    case complete
    case fault(TransferFault)
}

/// The rules for resuming a download: bytes of different versions are never combined.
package enum DownloadRules {
    /// Selects the next request.
    ///
    /// - Parameters:
    ///   - length: the length of the file on the disk, bytes.
    ///   - boot: the id of the machine's current boot.
    ///   - method: only for GET, a part of the file can be requested.
    package static func ask(
        _ point: TransferPoint,
        length: Int64,
        boot: String,
        method: String
    ) -> DownloadAsk {
        // After a power failure, bytes beyond the recorded position may be missing, or may be zeros in the
        // file.
        let held = boot == point.boot ? length : min(length, point.bytes)
        guard method == "GET", let validator = point.validator, held > 0 else { return .whole }
        if let total = point.total {
            if held == total { return .nothing }
            if held > total { return .whole }
        }
        return .rest(from: held, ifRange: validator.text)
    }

    /// Checks a response.
    ///
    /// - Parameters:
    ///   - point: the position of the download.
    ///   - bytesMax: the longest permitted file, bytes.
    package static func judge(
        _ head: AnswerHead,
        to ask: DownloadAsk,
        point: TransferPoint,
        bytesMax: Int64
    ) -> DownloadVerdict {
        switch (head.status, ask) {
        case (206, .rest(let from, _)):
            return part(head, from: from, point: point, bytesMax: bytesMax)
        case (206, _):
            return .fault(
                TransferFault(.contradiction, "the server sent a part, but was asked for all")
            )
        case (200...299, _): return whole(head, boot: point.boot, bytesMax: bytesMax)
        case (416, .rest(let from, _)):
            let total = head["content-range"].flatMap(ContentRange.init)?.total
            let tag = head["etag"]
            guard let total, total == from, point.total ?? total == total,
                tag == nil || tag == point.validator?.text
            else {
                return .fault(
                    TransferFault(
                        .contradiction,
                        "the server has no part behind byte \(from), where the file stands",
                        status: 416
                    )
                )
            }
            return .complete
        default:
            return .fault(
                TransferFault(
                    .status,
                    "the server answered with status \(head.status)",
                    status: head.status
                )
            )
        }
    }

    /// Whether the file is complete after the body of a response has ended.
    ///
    /// If no response contained the length of the file, the end of a part is not known to be the end of the
    /// file.
    package static func isComplete(
        _ head: AnswerHead,
        point: TransferPoint,
        length: Int64
    ) -> Bool {
        point.total.map { $0 == length } ?? (head.status != 206)
    }

    private static func whole(
        _ head: AnswerHead,
        boot: String,
        bytesMax: Int64
    ) -> DownloadVerdict {
        var point = TransferPoint(boot: boot)
        switch Coding(head) {
        case .none:
            point.validator = Validator(head)
            point.total = head.number("content-length")
            point.digest = head["repr-digest"].flatMap { ContentDigest(field: $0) }
        case .unpacked:
            // Ranges, lengths and digests describe the compressed bytes, but the HTTP client returns the
            // decompressed ones.
            break
        case .unknown(let name):
            return .fault(
                TransferFault(
                    .encoding,
                    "the server packs the file as \(name), although it was asked not to"
                )
            )
        }
        if let total = point.total, total > bytesMax { return .fault(.tooLarge(bytesMax)) }
        return .body(from: 0, length: point.total, point)
    }

    private static func part(
        _ head: AnswerHead,
        from: Int64,
        point: TransferPoint,
        bytesMax: Int64
    ) -> DownloadVerdict {
        func contradiction(_ what: String) -> DownloadVerdict {
            .fault(TransferFault(.contradiction, "the server sent a part \(what)", status: 206))
        }
        guard case .none = Coding(head) else { return contradiction("of a packed file") }
        guard let range = head["content-range"].flatMap(ContentRange.init),
            let bytes = range.bytes
        else { return contradiction("without saying which") }
        guard bytes.lowerBound == from else {
            return contradiction("from byte \(bytes.lowerBound), but was asked for \(from)")
        }
        guard let validator = point.validator, validator.agrees(with: head) else {
            return contradiction("of another version of the file")
        }
        let total = range.total ?? point.total
        guard point.total == nil || point.total == total, bytes.upperBound < total ?? .max else {
            return contradiction("of a file of another length")
        }
        let length = bytes.upperBound - from + 1
        guard head.number("content-length") ?? length == length else {
            return contradiction("that is not as long as it says")
        }
        guard max(total ?? 0, bytes.upperBound + 1) <= bytesMax else {
            return .fault(.tooLarge(bytesMax))
        }
        var next = point
        next.total = total
        if next.digest == nil {
            next.digest = head["repr-digest"].flatMap { ContentDigest(field: $0) }
        }
        return .body(from: from, length: length, next)
    }

    /// The compression of a body (`Content-Encoding`).
    private enum Coding {
        case none
        /// Compressed; the HTTP client decompresses it.
        case unpacked
        case unknown(String)

        init(_ head: AnswerHead) {
            let fields = head.headers.filter { $0.name == "content-encoding" }
            let name = fields.map { $0.value.lowercased() }.joined(separator: ",")
            switch name {
            case "", "identity": self = .none
            case "gzip", "deflate": self = .unpacked
            default: self = .unknown(PrintableText.escaped(String(name.prefix(40))))
            }
        }
    }
}

extension TransferFault {
    /// The fault of a file that is or would become longer than its limit.
    package static func tooLarge(_ limit: Int64) -> TransferFault {
        TransferFault(.tooLarge, "the file is larger than the \(limit) bytes that it may have")
    }
}
