// SPDX-License-Identifier: Apache-2.0

/// What a download asks its server for.
package enum DownloadAsk: Equatable, Sendable {
    /// All of it is there.
    case nothing
    case whole
    /// What lies behind the bytes that are there, if they are still bytes of the same.
    case rest(from: Int64, ifRange: String)
}

/// What an answer means for a download.
package enum DownloadVerdict: Equatable, Sendable {
    /// The body is the file from this byte on, so long if it is known; the point is the new one.
    case body(from: Int64, length: Int64?, TransferPoint)
    /// All of it is there.
    case complete
    case fault(TransferFault)
}

/// How a download is resumed: never a byte is put behind others that it may not belong to.
package enum DownloadRules {
    /// What to ask for.
    ///
    /// - Parameters:
    ///   - length: how long the file on the disk is.
    ///   - boot: which boot of the machine this is.
    ///   - method: only GET may be asked for a part.
    package static func ask(
        _ point: TransferPoint,
        length: Int64,
        boot: String,
        method: String
    ) -> DownloadAsk {
        // What was written since then may have been lost with the machine's power, or lie in the
        // file as zeros.
        let held = boot == point.boot ? length : min(length, point.bytes)
        guard method == "GET", let validator = point.validator, held > 0 else { return .whole }
        if let total = point.total {
            if held == total { return .nothing }
            if held > total { return .whole }
        }
        return .rest(from: held, ifRange: validator.text)
    }

    /// What to make of an answer.
    ///
    /// - Parameters:
    ///   - point: where the download stands.
    ///   - bytesMax: the longest file that it may become.
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

    /// Whether a file is all of it, once the body of an answer has come to its end.
    ///
    /// The end of a part of a file whose length nobody has said is only the end of that part.
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
            // Ranges, lengths and digests are of the packed bytes, which nobody will ever see.
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

    /// How the body is packed.
    private enum Coding {
        case none
        /// In a way that the HTTP client undoes.
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
    /// A file that is, or becomes, longer than it may be.
    package static func tooLarge(_ limit: Int64) -> TransferFault {
        TransferFault(.tooLarge, "the file is larger than the \(limit) bytes that it may have")
    }
}
