// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules
internal import AsyncHTTPClient
internal import NIOCore

/// The outcome of an attempt, and the transfer's position after it.
struct AttemptResult: Sendable {
    var end: TransferMachine.AttemptEnd
    var point: TransferPoint
}

/// One attempt of a transfer: what it uses, and the callbacks through which it reports.
struct Attempt: Sendable {
    let request: TransferRequest
    let route: Route
    let access: TransferAccess
    let meter: TransferMeter
    /// To be passed before the file is put in place.
    let placing: PlacingGate
    let clock: any TransferClock
    /// The id of the machine's current boot.
    let boot: String
    /// Whether the journal may hold the progress of another version of the file than the one that
    /// now arrives.
    let mustSettle: Bool
    /// The span of the attempt, which its requests carry; `nil` if it is not recorded.
    let span: TraceContext?
    /// Reports progress; returns at once.
    let moved: @Sendable (TransferPoint) -> Void
    /// Records a position; returns when it is in the journal.
    let settle: @Sendable (TransferPoint) async throws -> Void
    /// Announces the server of the next connection; returns when that server has a free connection
    /// slot.
    let enter: @Sendable (WebAddress) async throws -> Void

    /// Continues the transfer from a position, and returns the outcome.
    func run(from point: TransferPoint) async -> AttemptResult {
        switch request.kind {
        case .download: await DownloadAttempt(attempt: self).run(from: point)
        case .upload(let form): await UploadAttempt(attempt: self, form: form).run(from: point)
        }
    }

    /// Builds the request.
    ///
    /// It checks the headers again, since the request may come from a file.
    func outgoing(
        to url: String,
        method: String,
        adding extra: [TransferHeader],
        body: OutgoingBody,
        without dropped: Set<String> = []
    ) throws -> OutgoingRequest {
        let address = try WebAddress(url)
        let origin = try WebAddress(request.url)
        var headers = request.headers.map { ($0.name, $0.value) }
        try RequestHeaders.check(headers, sendsDigest: false, isFenced: true)
        if !origin.hasSameOrigin(as: address) {
            headers = RequestHeaders.redirected(headers, sameOrigin: false, keepsBody: true)
        }
        if let span, request.trace != nil {
            headers.removeAll { TraceHeaders.has([$0.0]) }
            headers += TraceHeaders.of(span)
        }
        headers.removeAll { dropped.contains($0.0.lowercased()) }
        let given = Set(headers.map { $0.0.lowercased() })
        for header in extra where !given.contains(header.name.lowercased()) {
            headers.append((header.name, header.value))
        }
        return OutgoingRequest(
            to: address,
            method: try RequestHeaders.method(method),
            signing: headers,
            body: body
        )
    }

    /// The failure for a response without success, with the beginning of its body.
    func failure(
        _ fault: TransferFault,
        _ head: AnswerHead,
        _ response: HTTPClientResponse
    ) async -> AttemptFailure {
        AttemptFailure(
            fault,
            answer: TransferAnswer(
                status: head.status,
                headers: head.headers,
                // A server that answers with a temporary failure may send its body slowly; that
                // body is not worth waiting for.
                body: fault.verdict == .final ? await excerpt(of: response) : []
            ),
            retryAfter: RetryAfter.delay(head, unixNow: clock.unixNow)
        )
    }

    /// How long to wait for the beginning of a body, nanoseconds.
    ///
    /// The body does not change the outcome of the transfer, so a server that sends it slowly must
    /// not delay a response that has already arrived.
    private static let excerptPatience: UInt64 = 5_000_000_000

    /// The beginning of a body, as far as it arrives in time.
    func excerpt(of response: HTTPClientResponse) async -> [UInt8] {
        let end = clock.now + Self.excerptPatience
        return await withTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { await beginning(of: response) }
            group.addTask { [clock] in
                // It throws only when it is cancelled, and then the timer is no longer needed.
                try? await clock.sleep(until: end)
                return nil
            }
            var bytes: [UInt8]?
            for await result in group {
                bytes = bytes ?? result
                // Cancel the other task: the reader then returns what it has, the timer returns
                // nothing.
                group.cancelAll()
            }
            return bytes ?? []
        }
    }

    private func beginning(of response: HTTPClientResponse) async -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await buffer in response.body {
                meter.add(buffer.readableBytes)
                let room = TransferAnswer.bodyBytesMax - bytes.count
                bytes += buffer.readableBytesView.prefix(room)
                if bytes.count == TransferAnswer.bodyBytesMax { break }
            }
        } catch {
            // The status and headers have arrived, and they decide the outcome.
        }
        return bytes
    }
}
