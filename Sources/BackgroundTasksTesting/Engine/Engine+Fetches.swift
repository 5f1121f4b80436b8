// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghost

/// How a fetch ends.
enum FetchEnd: Sendable {
    case answered(status: Int, headers: [(name: String, value: String)], body: [UInt8])
    case failed(bg_status, String)
    case timedOut(Duration)
    case cancelled
}

/// Fetches, which the test answers instead of a network.
extension Engine {
    mutating func begin(_ fetch: FetchCall, host: String?, port: UInt16) -> bg_status {
        guard runs[fetch.run] != nil else { return BG_E_STALE }
        guard fetch.bytes.count <= 64 << 10 else { return BG_E_LIMIT }
        guard fetch.bytesMax >= 0, fetch.timeout >= 0, let host else { return BG_E_ARG }
        if let refusal = subject.refusal(of: fetch, host: host.lowercased(), port: port) {
            actions.append(.endFetch(fetch, refusal))
            return BG_OK
        }
        let timeout: Duration =
            fetch.timeout == 0 ? .seconds(60) : .milliseconds(min(fetch.timeout, 86_400_000))
        fetches[fetch.number] = OpenFetch(
            call: fetch,
            timeout: timeout,
            deadline: now.monotonic.addingClamped(timeout.clampedNanoseconds)
        )
        return BG_OK
    }

    mutating func cancelFetch(_ number: UInt64) -> bg_status {
        guard let fetch = fetches.removeValue(forKey: number) else { return BG_E_STALE }
        actions.append(.endFetch(fetch.call, .cancelled))
        return BG_OK
    }

    /// Ends a fetch with the test's answer.
    ///
    /// - Returns: `false` if the fetch has already ended.
    mutating func answer(_ number: UInt64, _ end: FetchEnd) -> Bool {
        guard let fetch = fetches.removeValue(forKey: number) else { return false }
        actions.append(.endFetch(fetch.call, Self.bounded(end, fetch.call)))
        return true
    }

    /// Turns an answer that exceeds the handler's limit into a failure.
    private static func bounded(_ end: FetchEnd, _ call: FetchCall) -> FetchEnd {
        guard case .answered(_, _, let body) = end else { return end }
        let most = call.bytesMax == 0 ? 1 << 20 : Int(min(call.bytesMax, 64 << 20))
        guard body.count > most else { return end }
        return .failed(BG_E_LIMIT, "the answer has \(body.count) bytes; at most \(most) are taken")
    }

    /// Asks the test again about every fetch and transfer that waits.
    mutating func askAgain() {
        for number in fetches.keys { fetches[number]?.isAsked = false }
        for id in transfers.keys { transfers[id]?.isAsked = false }
    }

    /// Returns the first fetch that the test was not asked about, and marks it.
    mutating func nextToAsk() -> FetchCall? {
        let number = fetches.keys.filter { fetches[$0]?.isAsked == false }.min()
        guard let number else { return nil }
        fetches[number]?.isAsked = true
        return fetches[number]?.call
    }
}

extension FetchCall {
    /// Ends the fetch as the daemon would.
    func end(_ end: FetchEnd) {
        switch end {
        case .answered(let status, let headers, let body):
            let lines = headers.map { "\($0.name.lowercased()): \($0.value)\n" }.joined()
            self.end(
                status: BG_OK,
                http: Int32(clamping: status),
                headers: lines,
                bytes: body,
                message: ""
            )
        case .failed(let status, let message): self.end(status: status, message: message)
        case .timedOut(let limit):
            self.end(
                status: BG_E_FAILED,
                message: "the fetch did not end within its \(limit): raise its timeout or ask for"
                    + " less"
            )
        case .cancelled: self.end(status: BG_E_CANCELLED)
        }
    }
}
