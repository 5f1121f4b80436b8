// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules
internal import AsyncHTTPClient
internal import NIOCore

/// One attempt to download a file.
struct DownloadAttempt: Sendable {
    let attempt: Attempt

    private var request: TransferRequest { attempt.request }

    func run(from point: TransferPoint) async -> AttemptResult {
        // The position before and after, for the machine that counts attempts without progress.
        var held: Int64 = 0
        var reached = Reached(point: point)
        do {
            if let length = try await placed(point) {
                let answer = TransferAnswer(status: 200, bytes: length)
                return AttemptResult(end: .done(answer), point: point)
            }
            let (part, length) = try await onDisk { [request, attempt] in
                let part = try PartFile(of: request, within: attempt.access)
                return (part, try part.length())
            }
            let ask = DownloadRules.ask(
                point,
                length: length,
                boot: attempt.boot,
                method: request.effectiveMethod
            )
            if case .rest(let from, _) = ask { held = from }
            reached = Reached(point: point, end: held)
            let answer = try await receive(ask, point, into: part, holding: length, &reached)
            let end = try await finish(part, reached.point, answer)
            return AttemptResult(end: .done(end), point: reached.point)
        } catch {
            let failure = AttemptFailure(reading: error)
            let end = TransferMachine.AttemptEnd.failed(
                failure.fault,
                failure.answer,
                retryAfter: failure.retryAfter,
                hasProgressed: reached.point.validator != nil && reached.end > held
            )
            return AttemptResult(end: end, point: reached.point)
        }
    }

    /// The file's length, if a process that was killed had moved the file into place but had not
    /// yet recorded that; otherwise `nil`.
    private func placed(_ point: TransferPoint) async throws -> Int64? {
        guard let inode = point.source?.inode, let total = point.total else { return nil }
        let wanted = (request.digest.flatMap { ContentDigest(.sha256, $0) } ?? point.digest)
        return try await onDisk { [request, attempt] in
            try PartFile.isPlaced(
                request,
                within: attempt.access,
                inode: inode,
                length: total,
                digest: wanted
            ) ? total : nil
        }
    }

    /// How far the attempt has come.
    private struct Reached {
        var point: TransferPoint
        var end: Int64 = 0
    }

    /// Requests the missing bytes and writes them to the file.
    private func receive(
        _ ask: DownloadAsk,
        _ point: TransferPoint,
        into part: PartFile,
        holding length: Int64,
        _ reached: inout Reached
    ) async throws -> TransferAnswer {
        guard ask != .nothing else { return TransferAnswer(status: 200) }
        var extra = [TransferHeader("Accept-Encoding", "identity")]
        if case .rest(let from, let validator) = ask {
            extra.append(TransferHeader("Range", "bytes=\(from)-"))
            extra.append(TransferHeader("If-Range", validator))
        }
        if request.effectiveMethod != "GET" {
            // The key lets the server recognize a repeated request.
            extra.append(TransferHeader("Idempotency-Key", request.id.description))
        }
        let outgoing = try attempt.outgoing(
            to: request.url,
            method: request.effectiveMethod,
            adding: extra,
            body: request.body.isEmpty ? .none : .bytes(request.body)
        )
        return try await attempt.route.send(
            outgoing,
            permits: attempt.access.permits,
            enter: attempt.enter
        ) { head, response, _ in
            attempt.meter.add(0)
            switch DownloadRules.judge(
                head,
                to: ask,
                point: point,
                bytesMax: request.bytesMax
            ) {
            case .complete: break
            case .fault(let fault): throw await attempt.failure(fault, head, response)
            case .body(let from, let count, let next):
                var next = next
                next.boot = attempt.boot
                next.source = part.stamp
                try await start(part, holding: length, from, next)
                reached = Reached(point: next, end: from)
                try await writeBody(response, into: part, count, &reached)
                try check(head, reached)
            }
            return TransferAnswer(
                status: 200,
                headers: head.status == 206 ? Self.headersOfWhole(head) : head.headers
            )
        }
    }

    /// The headers of a partial response without those that describe the part: the handler of the
    /// transfer gets the whole file.
    private static func headersOfWhole(_ head: AnswerHead) -> [TransferHeader] {
        head.headers.filter {
            !["content-range", "content-digest", "content-md5"].contains($0.name)
        }
    }

    private func check(_ head: AnswerHead, _ reached: Reached) throws(AttemptFailure) {
        let (point, length) = (reached.point, reached.end)
        if DownloadRules.isComplete(head, point: point, length: length) { return }
        let total = point.total.map { "\($0)" } ?? "an unknown number of"
        throw AttemptFailure(
            TransferFault(
                .incomplete,
                "the server sent a part: \(length) of \(total) bytes are there"
            )
        )
    }

    /// Prepares the file for the bytes from an offset on.
    private func start(
        _ part: PartFile,
        holding length: Int64,
        _ from: Int64,
        _ next: TransferPoint
    ) async throws {
        do {
            if from == 0, attempt.mustSettle {
                // Do this before a byte of another version is in the file. After a crash in
                // between, the recorded version would otherwise be taken for the version in the
                // file.
                try await attempt.settle(TransferPoint(boot: attempt.boot))
            }
            if from != length { try await onDisk { try part.truncate(to: from) } }
        } catch {
            throw AttemptFailure(reading: error)
        }
        attempt.moved(next)
    }

    private func writeBody(
        _ response: HTTPClientResponse,
        into part: PartFile,
        _ length: Int64?,
        _ reached: inout Reached
    ) async throws {
        let start = reached.end
        let point = reached.point
        var writer = PartWriter(part, at: start, clock: attempt.clock) { [attempt, point] end in
            var point = point
            point.bytes = end
            attempt.moved(point)
        }
        var reservation: UInt64 = 0
        // The space that was taken and that the writer has not used yet, bytes.
        var unwritten: UInt64 = 0
        defer {
            attempt.access.releaseRoom(reservation, for: request.file)
            // Until the next measurement, what could not be written counts as if it were.
            attempt.access.wroteRoom(unwritten, for: request.file)
        }
        var cause: (any Error)?
        do {
            if let length {
                do {
                    let total = DataRoom.space(of: start.addingClamped(length))
                    reservation = try attempt.access.reserveRoom(
                        total - DataRoom.space(of: start),
                        for: request.file
                    )
                } catch {
                    throw AttemptFailure(reading: error)
                }
            }
            for try await buffer in response.body {
                attempt.meter.add(buffer.readableBytes)
                guard Int64(buffer.readableBytes) <= request.bytesMax - writer.end else {
                    throw AttemptFailure(.tooLarge(request.bytesMax))
                }
                do {
                    let end = writer.end + Int64(buffer.readableBytes)
                    let space = DataRoom.space(of: end) - DataRoom.space(of: writer.end)
                    try attempt.access.takeRoom(
                        space,
                        from: &reservation,
                        for: request.file
                    )
                    unwritten += space
                    try await writer.add(buffer)
                    let rest = DataRoom.space(of: writer.end) - DataRoom.space(of: writer.written)
                    attempt.access.wroteRoom(unwritten - rest, for: request.file)
                    unwritten = rest
                } catch {
                    throw AttemptFailure(reading: error)
                }
            }
        } catch {
            cause = Self.unpacking(error) ?? error
        }
        // Write what arrived before the connection broke; the next attempt continues behind it.
        do {
            try await writer.flush()
            reached.end = writer.end
        } catch {
            cause = cause ?? AttemptFailure(reading: error)
        }
        if let cause { throw cause }
        let received = writer.end - start
        guard received == length ?? received else {
            throw AttemptFailure(
                TransferFault(
                    .incomplete,
                    "\(received) of \(length ?? 0) bytes came before the server's answer ended"
                )
            )
        }
    }

    /// Checks the received file and moves it into place.
    private func finish(
        _ part: PartFile,
        _ point: TransferPoint,
        _ answer: TransferAnswer
    ) async throws -> TransferAnswer {
        try Task.checkCancellation()
        attempt.meter.goToDisk()
        let length = try await onDisk { [request, attempt] in
            let length = try part.length()
            if let total = point.total, total != length {
                throw TransferFault(
                    .incomplete,
                    "\(length) of \(total) bytes are there"
                )
            }
            try part.sync()
            let wanted = request.digest.map { ContentDigest(.sha256, $0) }
            for digest in [wanted ?? nil, point.digest].compactMap(\.self)
            where try !part.matches(digest) {
                throw TransferFault(
                    .digest,
                    "what came does not have the \(digest.algorithm.rawValue) that it should have"
                )
            }
            guard attempt.placing.pass(inode: part.stamp.inode) else { throw CancellationError() }
            try part.place()
            return length
        }
        var answer = answer
        answer.bytes = length
        if let index = answer.headers.firstIndex(where: { $0.name == "content-length" }) {
            answer.headers[index].value = String(length)
        }
        return answer
    }

    /// The failure of decompressing a body; `nil` if the error is not about that.
    private static func unpacking(_ error: any Error) -> AttemptFailure? {
        guard String(reflecting: type(of: error)).hasPrefix("NIOHTTPCompression.") else {
            return nil
        }
        guard "\(error)" == "limit" else {
            return AttemptFailure(
                TransferFault(.contradiction, "the body cannot be unpacked (\(error))")
            )
        }
        return AttemptFailure(
            TransferFault(
                .encoding,
                "the body unpacks to more than \(ClientPool.unpackedRatioMax) times its size"
            )
        )
    }
}
