// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BghostCore
internal import NIOCore

/// How an attempt ended, and where the transfer stands after it.
struct AttemptResult: Sendable {
    var end: TransferMachine.AttemptEnd
    var point: TransferPoint
}

/// One attempt of a transfer: what it works with, and whom it tells.
struct Attempt: Sendable {
    let request: TransferRequest
    let route: Route
    let access: TransferAccess
    let meter: TransferMeter
    let clock: any TransferClock
    /// Which boot of the machine this is.
    let boot: String
    /// Whether a version may be written down that is not the one that is about to come.
    let mustSettle: Bool
    /// Reports how far it has come, and returns at once.
    let moved: @Sendable (TransferPoint) -> Void
    /// It has come so far, which is written down before this returns.
    let settle: @Sendable (TransferPoint) async throws -> Void
    /// Its connection goes to this server next; returns when that has one to give.
    let enter: @Sendable (WebAddress) async throws -> Void

    /// Carries the transfer on from a point, and says how that ended.
    func run(from point: TransferPoint) async -> AttemptResult {
        switch request.kind {
        case .download: await DownloadCarrier(attempt: self).run(from: point)
        case .upload(let form): await UploadCarrier(attempt: self, form: form).run(from: point)
        }
    }

    /// The request to the address that was asked for, checked once more: it may come from a file.
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
        try RequestHeaders.check(headers, sendsDigest: false)
        if !origin.hasSameOrigin(as: address) {
            headers = RequestHeaders.redirected(headers, sameOrigin: false, keepsBody: true)
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

    /// The failure that an answer without success is, with the beginning of what it says.
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
                // Who asks for a place to wait in may trickle; what it says is not worth waiting for.
                body: fault.verdict == .final ? await excerpt(of: response) : []
            ),
            retryAfter: RetryAfter.delay(head, unixNow: clock.unixNow)
        )
    }

    /// How long the beginning of a body is waited for, nanoseconds.
    ///
    /// What it says does not change what becomes of the transfer: whoever trickles must not keep an
    /// answer that has come from counting.
    private static let excerptPatience: UInt64 = 5_000_000_000

    /// The beginning of a body; as much of it as comes.
    func excerpt(of response: HTTPClientResponse) async -> [UInt8] {
        let end = clock.now + Self.excerptPatience
        return await withTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { await beginning(of: response) }
            group.addTask { [clock] in
                try? await clock.sleep(until: end)
                return nil
            }
            var bytes: [UInt8]?
            for await result in group {
                bytes = bytes ?? result
                // The other one: the reader says what it has, the sleeper nothing.
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
            // The answer itself has come, and says what it says.
        }
        return bytes
    }
}
