// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules

// The columns are in the order of the tables in `TransferSchema`.

extension TransferRequest {
    static let columns = 25

    func bind(key: String, to row: inout Arguments) {
        row.addBytes(id)
        row.addBytes(plugin)
        row.addBytes(session)
        row.addBytes(key)
        switch kind {
        case .download: row.addBytes("download")
        case .upload(.whole): row.addBytes("whole")
        case .upload(.multipart): row.addBytes("multipart")
        case .upload(.tus): row.addBytes("tus")
        case .upload(.ietf): row.addBytes("ietf")
        case .upload(.negotiated): row.addBytes("negotiated")
        }
        if case .upload(.multipart(let field, let fileName, let contentType)) = kind {
            for text in [field, fileName, contentType] { row.addBytes(text) }
        } else {
            for _ in 0..<3 { row.addBytes(String?.none) }
        }
        row.addBytes(url)
        row.addBytes(method)
        row.addBytes(headers)
        row.addBytes(body)
        row.addBytes(file)
        row.addBytes(digest)
        row.add(bytesMax)
        row.add(idleTimeout)
        row.add(resourceTimeout)
        row.addBytes(continuation)
        row.add(isDiscretionary)
        row.addBytes(label)
        row.add(notBefore)
        row.add(notifiesSession)
        row.add(hasOwnPlace)
        row.add(createdAt)
        row.addSum()
    }

    /// Reads a transfer and its key.
    static func read(_ row: Row) throws(SQLiteFailure) -> (TransferRequest, key: String) {
        var row = TransferRowReader(row)
        let id = try row.id()
        let plugin = try row.text()
        let session = try row.text()
        let key = try row.text()
        let kind = try row.text()
        let form = try (row.optionalText(), row.optionalText(), row.optionalText())
        var request = TransferRequest(
            id: id,
            plugin: plugin,
            session: session,
            kind: try Self.kind(kind, form),
            url: try row.text(),
            file: "",
            createdAt: 0
        )
        request.method = try row.text()
        request.headers = try row.headers()
        request.body = try row.bytes()
        request.file = try row.text()
        request.digest = try row.optionalBytes()
        request.bytesMax = try row.int()
        request.idleTimeout = try row.uint()
        request.resourceTimeout = try row.uint()
        request.continuation = try row.bytes()
        request.isDiscretionary = try row.bool()
        request.label = try row.text()
        request.notBefore = try row.optionalInt()
        request.notifiesSession = try row.bool()
        request.hasOwnPlace = try row.bool()
        request.createdAt = try row.int()
        try row.end()
        return (request, key)
    }

    private static func kind(
        _ text: String,
        _ form: (String?, String?, String?)
    ) throws(SQLiteFailure) -> TransferKind {
        switch text {
        case "download": return .download
        case "whole": return .upload(.whole)
        case "tus": return .upload(.tus)
        case "ietf": return .upload(.ietf)
        case "negotiated": return .upload(.negotiated)
        case "multipart":
            guard let field = form.0, let fileName = form.1, let type = form.2 else {
                throw TransferRowReader.damaged
            }
            return .upload(.multipart(field: field, fileName: fileName, contentType: type))
        default: throw TransferRowReader.damaged
        }
    }
}

extension TransferPoint {
    static let columns = 13

    func bind(_ id: RunID, to row: inout Arguments) {
        row.addBytes(id)
        row.addBytes(validator?.text)
        row.add(total)
        row.add(bytes)
        row.addBytes(boot)
        row.addBytes(digest?.field)
        row.addBytes(uploadURL)
        row.addBytes(dialect?.rawValue)
        row.add(source?.size)
        row.add(source?.seconds)
        row.add(source?.nanoseconds)
        row.add(source.map { Int64(bitPattern: $0.inode) })
        row.addSum()
    }

    static func read(_ row: Row) throws(SQLiteFailure) -> (RunID, TransferPoint) {
        var row = TransferRowReader(row)
        let id = try row.id()
        var point = TransferPoint()
        point.validator = try row.optionalText().flatMap(Validator.init(text:))
        point.total = try row.optionalInt()
        point.bytes = try row.int()
        point.boot = try row.text()
        point.digest = try row.optionalText().flatMap(ContentDigest.init(field:))
        point.uploadURL = try row.optionalText()
        point.dialect = try row.choice(UploadDialect.self)
        let numbers = try (
            row.optionalInt(), row.optionalInt(), row.optionalInt(), row.optionalInt()
        )
        if let size = numbers.0, let seconds = numbers.1, let nanoseconds = numbers.2,
            let inode = numbers.3
        {
            point.source = FileStamp(
                size: size,
                seconds: seconds,
                nanoseconds: nanoseconds,
                inode: UInt64(bitPattern: inode)
            )
        }
        try row.end()
        return (id, point)
    }
}

extension TransferStatus {
    static let columns = 18

    func bind(_ id: RunID, to row: inout Arguments) {
        row.addBytes(id)
        row.addBytes(state.rawValue)
        row.add(failures)
        row.add(restarts)
        // Bits of the column that had the first one only: an older bghost takes any for the first, and
        // tells of a kept end once more.
        row.add((isDetached ? 1 : 0) | (isKept ? 2 : 0))
        row.addBytes(fault?.code.rawValue)
        row.addBytes(fault?.detail)
        row.add(fault?.status)
        row.add(answer?.status)
        row.addBytes(answer?.headers)
        row.addBytes(answer?.body)
        row.add(answer?.bytes)
        row.add(endedAt)
        row.addSum()
        row.restartSum()
        row.add(pause?.until)
        row.add(pause?.length)
        row.add(expiresAt)
        row.addSum()
    }

    static func read(_ row: Row) throws(SQLiteFailure) -> (RunID, TransferStatus) {
        var row = TransferRowReader(row)
        let id = try row.id()
        guard let state = try row.choice(TransferState.self) else {
            throw TransferRowReader.damaged
        }
        var status = TransferStatus(state: state)
        status.failures = Int(clamping: try row.int())
        status.restarts = Int(clamping: try row.int())
        let bits = try row.int()
        status.isDetached = bits & 1 != 0
        status.isKept = bits & 2 != 0
        let code = try row.choice(TransferFault.Code.self)
        let detail = try row.optionalText()
        let number = try row.optionalInt()
        if let code, let detail {
            status.fault = TransferFault(code, detail, status: number.map { Int(clamping: $0) })
        }
        let answer = try (row.optionalInt(), row.headers(), row.optionalBytes(), row.optionalInt())
        if let number = answer.0, let body = answer.2, let bytes = answer.3 {
            status.answer = TransferAnswer(
                status: Int(clamping: number),
                headers: answer.1,
                body: body,
                bytes: bytes
            )
        }
        status.endedAt = try row.optionalInt()
        try row.end()
        row.restartSum()
        let pause = try (row.optionalInt(), row.optionalInt())
        if let until = pause.0, let length = pause.1 {
            status.pause = RetryPause(until: until, length: length)
        }
        status.expiresAt = try row.optionalInt()
        let isOld = pause.0 == nil && pause.1 == nil && status.expiresAt == nil
        try row.endOfAddedColumns(isOld: isOld)
        return (id, status)
    }
}
