// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import BghostWire
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
    /// Starts a fetch of a run in progress.
    ///
    /// - Parameter host: `nil` if the URL is not an HTTP URL.
    mutating func begin(_ fetch: FetchCall, _ call: OpenCall, host: String?, port: UInt16) {
        guard let host else {
            let end = FetchEnd.failed(BG_E_ARG, "this is not an HTTP URL")
            return actions.append(.answer(call, HostAnswer(end)))
        }
        if let refusal = subject.refusal(of: fetch, host: host.lowercased(), port: port) {
            return actions.append(.answer(call, HostAnswer(refusal)))
        }
        let milliseconds = fetch.timeoutMilliseconds
        let timeout: Duration =
            milliseconds == 0 ? .seconds(60) : .milliseconds(min(milliseconds, 86_400_000))
        fetches[call.number] = OpenFetch(
            call: call,
            request: fetch,
            timeout: timeout,
            deadline: now.monotonic + timeout.clampedNanoseconds
        )
    }

    mutating func cancelFetch(_ number: UInt64) {
        guard let fetch = fetches.removeValue(forKey: number) else { return }
        actions.append(.answer(fetch.call, .cancelled))
    }

    /// Ends a fetch with the test's answer.
    ///
    /// - Returns: `false` if the fetch has already ended.
    mutating func answer(_ number: UInt64, _ end: FetchEnd) -> Bool {
        guard let fetch = fetches.removeValue(forKey: number) else { return false }
        actions.append(.answer(fetch.call, HostAnswer(Self.bounded(end, fetch.request))))
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
    mutating func nextToAsk() -> OpenFetch? {
        let number = fetches.keys.filter { fetches[$0]?.isAsked == false }.min()
        guard let number else { return nil }
        fetches[number]?.isAsked = true
        return fetches[number]
    }
}
