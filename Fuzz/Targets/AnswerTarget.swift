// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules

extension FuzzTarget {
    /// Where a transfer stands, and lines of the head that a server answers with.
    static let answers = FuzzTarget("answers", bytesMax: 8 << 10) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        let held = Int64(cursor.integer(UInt16.self))
        let bytesMax = Int64(cursor.integer(UInt32.self))
        let status = [200, 201, 204, 206, 304, 404, 409, 416, 503][cursor.below(9)]
        let head = head(status, cursor.remaining)
        try checkFields(head)
        try checkDownload(head, held: held, bytesMax: bytesMax)
        try checkUpload(head, size: held)
    }

    private static func head(_ status: Int, _ bytes: [UInt8]) -> AnswerHead {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let headers = lines.compactMap { line -> TransferHeader? in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
            return TransferHeader(
                String(decoding: line[..<colon], as: UTF8.self).lowercased(),
                String(decoding: value, as: UTF8.self)
            )
        }
        return AnswerHead(status: status, headers: headers)
    }

    private static func checkFields(_ head: AnswerHead) throws(BrokenProperty) {
        if let validator = Validator(head) {
            try require(Validator(text: validator.text) == validator, "a validator is not itself")
            try require(
                validator.agrees(with: head),
                "an answer is of another version than its own"
            )
        }
        for header in head.headers {
            if let range = ContentRange(header.value) {
                try require(
                    range.bytes.map { $0.upperBound < range.total ?? .max } ?? (range.total != nil),
                    "\(header.value) reaches beyond its file"
                )
            }
            if let digest = ContentDigest(field: header.value) {
                try require(
                    digest.bytes.count == digest.algorithm.byteCount
                        && ContentDigest(field: digest.field) == digest,
                    "\(header.value) becomes \(digest.field)"
                )
            }
            if let date = HTTPDate.unixSeconds(header.value), date >= 0 {
                let text = HTTPDate.text(unixSeconds: date)
                try require(HTTPDate.unixSeconds(text) == date, "\(header.value) becomes \(text)")
            }
        }
        if let delay = RetryAfter.delay(head, unixNow: 1_700_000_000_000_000_000) {
            try require(delay <= 366 * 86_400 * 1_000_000_000, "a wait of \(delay) ns")
        }
    }

    /// No byte is put behind others that it may not belong to.
    private static func checkDownload(
        _ head: AnswerHead,
        held: Int64,
        bytesMax: Int64
    ) throws(BrokenProperty) {
        var point = TransferPoint(boot: "one")
        point.validator = .tag("\"a\"")
        point.bytes = held
        let ask = DownloadRules.ask(point, length: held, boot: "one", method: "GET")
        switch DownloadRules.judge(head, to: ask, point: point, bytesMax: bytesMax) {
        case .body(let from, let length, let next):
            try require(from == 0 || from == held, "a body is put at \(from), behind \(held)")
            try require(
                from == 0 || head.status == 206 && head["etag"] == "\"a\"",
                "a body of another version is put behind \(held) bytes"
            )
            try require(length ?? 0 >= 0, "a body of \(length ?? 0) bytes")
            let end = max(next.total ?? 0, from + (length ?? 0))
            try require(end <= bytesMax, "\(end) bytes, and \(bytesMax) at the most")
        case .complete: try require(head.status == 416 && held > 0, "it is complete at \(held)")
        case .fault(let fault): try MessageText.check(fault.detail)
        }
    }

    private static func checkUpload(_ head: AnswerHead, size: Int64) throws(BrokenProperty) {
        for form in [UploadForm.whole, .tus, .ietf, .negotiated] {
            for dialect in UploadDialect.allCases {
                var point = TransferPoint(boot: "one")
                point.dialect = dialect
                point.uploadURL = "https://example.org/place"
                var plan = UploadPlan(form: form, size: size, point: point)
                for _ in 0..<3 {
                    let step = plan.next
                    if case .append(let from) = step {
                        try require((0...size).contains(from), "it goes on at \(from) of \(size)")
                    }
                    let location = head["location"]
                    let verdict = plan.handle(head, location: location)
                    try require(
                        (0...size).contains(plan.point.bytes),
                        "\(plan.point.bytes) of \(size) bytes have arrived"
                    )
                    if case .fault(let fault) = verdict { try MessageText.check(fault.detail) }
                }
            }
        }
    }
}
