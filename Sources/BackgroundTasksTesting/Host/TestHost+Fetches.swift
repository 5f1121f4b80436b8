// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import BghostCore

/// Fetches, which go over no network: the test answers them.
extension TestHost {
    /// A fetch that waits for its answer.
    public struct Fetch: Sendable {
        let number: UInt64
        /// The task whose run it is for.
        public let identifier: String
        /// What the handler asks for.
        public let request: FetchRequest
    }

    /// Has each fetch answered as it begins, those that wait already included.
    ///
    /// Without it, or with `nil` as its answer, a fetch waits: for `answer`, `fail`, or its timeout on
    /// the host's clock. Fetches that the manifest does not permit fail without being asked about.
    ///
    /// - Parameter answer: called on a thread of the host, one fetch at a time; it takes the place of
    ///   the one before. A `FetchError` that it throws is what the handler gets; other errors are
    ///   failures of the network.
    public func respond(_ answer: @escaping @Sendable (FetchRequest) throws -> FetchResponse?) {
        driver.answerAll(answer)
    }

    /// The fetches that wait for their answers, in the order in which they began.
    public var fetches: [Fetch] {
        core.look { engine in
            engine.fetches.values.sorted { $0.call.number < $1.call.number }.compactMap { fetch in
                guard let run = engine.runs[fetch.call.run], let request = FetchRequest(fetch.call)
                else { return nil }
                let task = engine.history[run.place].record.task
                return Fetch(number: fetch.call.number, identifier: task, request: request)
            }
        }
    }

    /// Answers a fetch, and carries out what follows.
    ///
    /// - Throws: `TestHostError`, code `.noSuchFetch` if it is over; as of `advance`.
    public func answer(_ fetch: Fetch, with response: FetchResponse) async throws {
        try await end(fetch, FetchEnd(response))
    }

    /// Has a fetch fail, and carries out what follows.
    ///
    /// - Throws: as of `answer`.
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
