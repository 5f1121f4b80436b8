// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostStore

extension HistoryReader {
    /// Asks the store as ``ask(isOwn:_:)`` does.
    ///
    /// - Throws: if the store could not read what the answer needs; an empty answer would be wrong.
    nonisolated(nonsending) func read<Answer: Sendable>(
        _ question: @escaping @Sendable (any Store) -> Answer
    ) async throws(OperatorRefusal) -> Answer {
        switch await ask({ store in StoreReading.result { question(store) } }) {
        case .success(let answer): return answer
        case .failure:
            throw OperatorRefusal(
                .unavailable,
                "the history cannot be read",
                fix: "the log says why"
            )
        }
    }
}
