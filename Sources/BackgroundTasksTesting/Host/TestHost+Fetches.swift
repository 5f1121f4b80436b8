// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
public import BackgroundTasks

/// Fetches, which the test answers instead of a network.
extension TestHost {
    /// A fetch that waits for its answer.
    public struct Fetch: Sendable {
        let number: UInt64
        /// The identifier of the task whose run fetches.
        public let identifier: String
        /// The handler's request.
        public let request: FetchRequest
    }

    /// Answers each fetch when it starts, and each fetch that already waits, by calling a function.
    ///
    /// Without this function, or when it returns `nil`, a fetch waits for `answer`, for `fail`, or
    /// for its timeout on the host's clock. A fetch that the manifest does not permit fails without
    /// a call of the function.
    ///
    /// - Parameter answer: called on a thread of the host, one fetch at a time; it replaces the
    ///   previous function. If it throws a `FetchError`, the handler gets that error; any other
    ///   error counts as a network failure.
    public func respond(_ answer: @escaping @Sendable (FetchRequest) throws -> FetchResponse?) {
        driver.answerAll(answer)
    }

    /// The fetches that wait for an answer, in the order in which they started.
    public var fetches: [Fetch] {
        core.read { engine in
            engine.fetches.values.sorted { $0.call.number < $1.call.number }.compactMap { fetch in
                guard let run = engine.runs[fetch.call.run],
                    let request = FetchRequest(fetch.request)
                else { return nil }
                let task = engine.history[run.place].record.task
                return Fetch(number: fetch.call.number, identifier: task, request: request)
            }
        }
    }

    /// Answers a fetch, and carries out the effects.
    ///
    /// - Parameters:
    ///   - fetch: a fetch from `fetches`.
    ///   - response: the response for the handler.
    /// - Throws: `TestHostError` with code `.noSuchFetch` if the fetch has ended; otherwise as
    ///   `advance`.
    public func answer(_ fetch: Fetch, with response: FetchResponse) async throws {
        try await end(fetch, FetchEnd(response))
    }

    /// Makes a fetch fail, and carries out the effects.
    ///
    /// - Parameters:
    ///   - fetch: a fetch from `fetches`.
    ///   - error: the error for the handler.
    /// - Throws: as `answer`.
    public func fail(_ fetch: Fetch, with error: FetchError) async throws {
        try await end(fetch, FetchEnd(error))
    }

    private func end(_ fetch: Fetch, _ end: FetchEnd) async throws {
        try await driver.exclusively {
            guard core.change({ $0.answer(fetch.number, end) }) else {
                throw TestHostError(
                    .noSuchFetch,
                    "the fetch of \(fetch.request.url) is over: it was answered, timed out, or was"
                        + " cancelled"
                )
            }
            try await driver.settle()
        }
    }
}
