// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BghostCore
internal import NIOCore

/// One attempt to bring a file here.
struct DownloadCarrier: Sendable {
    let attempt: Attempt

    private var request: TransferRequest { attempt.request }

    func run(from point: TransferPoint) async -> AttemptResult {
        // Where it stood and where it stands, for those who count attempts that bring nothing.
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

    /// How long the file is, if it has been put in its place by a process that was killed before it
    /// could write that down.
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

    /// How far it has come.
    private struct Reached {
        var point: TransferPoint
        var end: Int64 = 0
    }

    /// Fills the file.
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
            // Who has seen it before need not do it twice.
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
                try await take(response, into: part, count, &reached)
                try check(head, reached)
            }
            // Of the whole file, of which this may have been the rest.
            return TransferAnswer(status: 200, headers: head.headers)
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

    /// Makes the file ready for the bytes from an offset on.
    private func start(
        _ part: PartFile,
        holding length: Int64,
        _ from: Int64,
        _ next: TransferPoint
    ) async throws {
        do {
            if from == 0, attempt.mustSettle {
                // Before a byte of another version is in the file: after a crash in between, the
                // one that is written down would be taken for the one that is there.
                try await attempt.settle(TransferPoint(boot: attempt.boot))
            }
            if from != length { try await onDisk { try part.truncate(to: from) } }
        } catch {
            throw AttemptFailure(reading: error)
        }
        attempt.moved(next)
    }

    private func take(
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
        var cause: (any Error)?
        do {
            for try await buffer in response.body {
                attempt.meter.add(buffer.readableBytes)
                guard Int64(buffer.readableBytes) <= request.bytesMax - writer.end else {
                    throw AttemptFailure(.tooLarge(request.bytesMax))
                }
                do {
                    try await writer.add(buffer)
                } catch {
                    throw AttemptFailure(reading: error)
                }
            }
        } catch {
            cause = Self.unpacking(error) ?? error
        }
        // What has come before a connection broke is what the next attempt begins behind.
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

    /// Checks what has come, and puts it in its place.
    private func finish(
        _ part: PartFile,
        _ point: TransferPoint,
        _ answer: TransferAnswer
    ) async throws -> TransferAnswer {
        try Task.checkCancellation()
        attempt.meter.goToDisk()
        let length = try await onDisk { [request] in
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
            try part.place()
            return length
        }
        var answer = answer
        answer.bytes = length
        return answer
    }

    /// What went wrong when a packed body was unpacked; `nil` if it is about something else.
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
