// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules
internal import AsyncHTTPClient
internal import BghostCrypto
internal import NIOCore

/// One attempt to upload a file.
struct UploadAttempt: Sendable {
    let attempt: Attempt
    let form: UploadForm

    private var request: TransferRequest { attempt.request }

    func run(from point: TransferPoint) async -> AttemptResult {
        var plan = UploadPlan(form: form, size: 0, point: point)
        do {
            let file = try attempt.access.openForReading(request.file)
            try await check(file, point)
            var start = point
            start.source = file.stamp
            plan = UploadPlan(form: form, size: Int64(file.size), point: start)
            let answer = try await carry(&plan, file)
            return AttemptResult(end: .done(answer), point: plan.point)
        } catch {
            let failure = AttemptFailure(reading: error)
            let end = TransferMachine.AttemptEnd.failed(
                failure.fault,
                failure.answer,
                retryAfter: failure.retryAfter,
                hasProgressed: plan.point.bytes > point.bytes
            )
            return AttemptResult(end: end, point: plan.point)
        }
    }

    /// Throws if the file is not the one that was to be sent.
    private func check(_ file: UploadFile, _ point: TransferPoint) async throws {
        guard Int64(file.size) <= request.bytesMax else {
            throw TransferFault.tooLarge(request.bytesMax)
        }
        guard point.source == nil || point.source == file.stamp else {
            throw TransferFault(.fileChanged, FetchFailure.fileChanged.description)
        }
        guard let wanted = request.digest, point.bytes == 0 else { return }
        guard attempt.route.digests.add(file.size, for: request.plugin) else {
            throw TransferFault(.limit, FetchFailure.tooManyDigests.description)
        }
        var hash = SHA256()
        for try await chunk in UploadChunks(file: file) {
            chunk.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            attempt.meter.add(chunk.readableBytes)
        }
        guard Array(hash.finalize()) == wanted else {
            // Not retryable, since the file will not change by itself.
            throw TransferFault(.file, "the file does not have the SHA-256 that it should have")
        }
    }

    private func carry(_ plan: inout UploadPlan, _ file: UploadFile) async throws -> TransferAnswer
    {
        for _ in 0..<Self.stepsMax {
            let step = plan.next
            let before = plan.point
            let outgoing = try outgoing(step, plan, file)
            let answer = try await attempt.route.send(
                outgoing,
                permits: attempt.access.permits,
                enter: attempt.enter
            ) { head, response, hop -> TransferAnswer? in
                attempt.meter.add(0)
                // Ignore an invalid `Location`.
                let location = head["location"].flatMap { try? hop.address.resolving($0).url }
                switch plan.handle(head, location: location) {
                case .proceed: return nil
                case .fault(let fault): throw await attempt.failure(fault, head, response)
                case .complete:
                    return TransferAnswer(
                        status: head.status,
                        headers: head.headers,
                        body: step == .locate ? [] : await attempt.excerpt(of: response),
                        bytes: Int64(file.size)
                    )
                }
            }
            if let answer { return answer }
            // Record the URL of a new upload resource at once. If it were lost, the bytes sent
            // there would be sent again to another one.
            if plan.point.uploadURL != before.uploadURL {
                try await attempt.settle(plan.point)
            } else if plan.point != before {
                attempt.moved(plan.point)
            }
        }
        throw TransferFault(.incomplete, "the server takes the file in small pieces")
    }

    /// The most requests of one attempt.
    ///
    /// A server that accepts a byte at a time reaches this limit, and the next attempt starts after
    /// a backoff.
    private static let stepsMax = 64

    /// Called with the bytes that are sent, if the file was hashed.
    private var noteSent: (@Sendable (Int) -> Void)? {
        guard request.digest != nil else { return nil }
        let (digests, plugin) = (attempt.route.digests, request.plugin)
        return { digests.subtract($0, for: plugin) }
    }

    private func outgoing(
        _ step: UploadStep,
        _ plan: UploadPlan,
        _ file: UploadFile
    ) throws -> OutgoingRequest {
        var extra = plan.headers(of: step)
        var body = OutgoingBody.none
        var url = request.url
        var dropped: Set<String> = ["content-type", "repr-digest", "upload-metadata"]
        switch step {
        case .ask: break
        case .send:
            dropped = []
            var content = UploadBody(file: file)
            if case .multipart(let field, let fileName, let type) = form {
                let parts = MultipartForm(request.id, field, fileName, type)
                extra.append(TransferHeader("Content-Type", parts.contentType))
                dropped = ["content-type"]
                content.prefix = parts.head
                content.suffix = parts.tail
            }
            content.meter = attempt.meter
            content.hashed = noteSent
            body = .file(content)
        case .create: dropped = []
        case .locate: url = plan.point.uploadURL ?? url
        case .append(let from):
            url = plan.point.uploadURL ?? url
            var rest = UploadBody(file: file)
            rest.from = Int(from)
            rest.meter = attempt.meter
            rest.hashed = noteSent
            body = .file(rest)
        }
        let method = plan.method(of: step) ?? request.effectiveMethod
        if method == "POST" || method == "PUT" {
            // The key lets the server recognize a repeated request.
            extra.append(TransferHeader("Idempotency-Key", request.id.description))
        }
        return try attempt.outgoing(
            to: url,
            method: method,
            adding: extra,
            body: body,
            without: dropped
        )
    }
}
