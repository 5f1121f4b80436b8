// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import GRDB

// The order of the columns is that of the tables in `TransferSchema`.

extension TransferRequest {
    func values(key: String) -> [DatabaseValue] {
        var row = TransferRowWriter()
        row.add(id)
        row.add(plugin)
        row.add(session)
        row.add(key)
        switch kind {
        case .download: row.add("download")
        case .upload(.whole): row.add("whole")
        case .upload(.multipart): row.add("multipart")
        case .upload(.tus): row.add("tus")
        case .upload(.ietf): row.add("ietf")
        case .upload(.negotiated): row.add("negotiated")
        }
        if case .upload(.multipart(let field, let fileName, let contentType)) = kind {
            for text in [field, fileName, contentType] { row.add(text) }
        } else {
            for _ in 0..<3 { row.add(String?.none) }
        }
        row.add(url)
        row.add(method)
        row.add(headers)
        row.add(body)
        row.add(file)
        row.add(digest)
        row.add(bytesMax)
        row.add(idleTimeout)
        row.add(resourceTimeout)
        row.add(continuation)
        row.add(isDiscretionary)
        row.add(label)
        row.add(notBefore)
        row.add(tellsSession)
        row.add(hasOwnPlace)
        row.add(createdAt)
        row.addSum()
        return row.values
    }

    /// Reads a transfer and its key.
    static func read(_ row: GRDB.Row) throws -> (TransferRequest, key: String) {
        var row = try TransferRowReader(row)
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
        request.tellsSession = try row.bool()
        request.hasOwnPlace = try row.bool()
        request.createdAt = try row.int()
        return (request, key)
    }

    private static func kind(
        _ text: String,
        _ form: (String?, String?, String?)
    ) throws -> TransferKind {
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
    func values(of id: RunID) -> [DatabaseValue] {
        var row = TransferRowWriter()
        row.add(id)
        row.add(validator?.text)
        row.add(total)
        row.add(bytes)
        row.add(boot)
        row.add(digest?.field)
        row.add(uploadURL)
        row.add(dialect?.rawValue)
        row.add(source?.size)
        row.add(source?.seconds)
        row.add(source?.nanoseconds)
        row.add(source.map { Int64(bitPattern: $0.inode) })
        row.addSum()
        return row.values
    }

    static func read(_ row: GRDB.Row) throws -> (RunID, TransferPoint) {
        var row = try TransferRowReader(row)
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
        return (id, point)
    }
}

extension TransferStatus {
    func values(of id: RunID) -> [DatabaseValue] {
        var row = TransferRowWriter()
        row.add(id)
        row.add(state.rawValue)
        row.add(failures)
        row.add(restarts)
        row.add(isDetached)
        row.add(fault?.code.rawValue)
        row.add(fault?.detail)
        row.add(fault?.status)
        row.add(answer?.status)
        row.add(answer?.headers)
        row.add(answer?.body)
        row.add(answer?.bytes)
        row.add(endedAt)
        row.addSum()
        return row.values
    }

    static func read(_ row: GRDB.Row) throws -> (RunID, TransferStatus) {
        var row = try TransferRowReader(row)
        let id = try row.id()
        guard let state = try row.choice(TransferState.self) else {
            throw TransferRowReader.damaged
        }
        var status = TransferStatus(state: state)
        status.failures = Int(clamping: try row.int())
        status.restarts = Int(clamping: try row.int())
        status.isDetached = try row.bool()
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
        return (id, status)
    }
}
