// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore

/// Requests that are tried no more, and what an operator does about them.
extension Host {
    /// One call takes no more than this, so that nothing else waits for it for long.
    private static var deadLettersMax: Int { 10_000 }

    package func deadLetters(task: String?, limit: Int) -> [DeadLetter] {
        store.deadLetters(task: task, limit: limit)
    }

    package func redrive(
        _ choice: DeadLetterChoice
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        let (letters, chosen) = try chosen(choice)
        var answer = chosen
        let now = wall
        var redriven: [Request] = []
        for letter in letters {
            let item = DeadLetterChange.Item(id: letter.request.id, task: letter.request.task)
            guard scheduler.catalog.task(for: letter.request.task) != nil else {
                answer.refused.append(item)
                continue
            }
            answer.done.append(item)
            redriven.append(letter.request.redriven(now: now))
        }
        guard !redriven.isEmpty else { return answer }
        // Nobody else can redrive them meanwhile: the store answers from what is under way too.
        if case .failure(let error) = await committed(redriven.map { .redriven($0) }) {
            throw OperatorRefusal(
                .storeFailed,
                "nothing is redriven, since it could not be stored: \(error.message)",
                fix: "see to the disk, and repeat the command"
            )
        }
        decide { [redriven] scheduler, now, effects in
            scheduler.redriven(redriven, now: now, &effects)
        }
        return answer
    }

    package func discard(
        _ choice: DeadLetterChoice
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        let (letters, chosen) = try chosen(choice)
        var answer = chosen
        guard !letters.isEmpty else { return answer }
        if case .failure(let error) = await committed(letters.map { .discarded($0.request.id) }) {
            throw OperatorRefusal(
                .storeFailed,
                "nothing is discarded, since it could not be stored: \(error.message)",
                fix: "see to the disk, and repeat the command"
            )
        }
        for letter in letters {
            let request = letter.request
            answer.done.append(.init(id: request.id, task: request.task))
            log.write(.info, "request.discarded", "\(request.id)", task: request.task)
        }
        return answer
    }

    /// The dead letters that are meant, at most as many as one call takes.
    private func chosen(
        _ choice: DeadLetterChoice
    ) throws(OperatorRefusal) -> (letters: [DeadLetter], answer: DeadLetterChange) {
        var answer = DeadLetterChange()
        let task: String? = if case .task(let task) = choice { task } else { nil }
        var letters = store.deadLetters(task: task, limit: Self.deadLettersMax + 1)
        if letters.count > Self.deadLettersMax {
            letters.removeLast()
            answer.hasMore = true
        }
        guard case .request(let prefix) = choice else { return (letters, answer) }
        let wanted = prefix.uppercased()
        letters.removeAll { !$0.request.id.description.hasPrefix(wanted) }
        let shown = PrintableText.escaped(String(prefix.prefix(40)))
        guard let first = letters.first else {
            let newest = answer.hasMore ? " among the \(Self.deadLettersMax) newest" : ""
            throw OperatorRefusal(
                .noSuchRequest,
                "there is no dead letter\(newest) whose request has an id that begins with \(shown)",
                fix: "bghost dead lists them"
            )
        }
        guard letters.count == 1 else {
            throw OperatorRefusal(
                .ambiguousRequest,
                "\(letters.count) dead letters have an id that begins with \(shown)",
                fix: "give more characters",
                candidates: letters.prefix(8).map { "\($0.request.id) \($0.request.task)" }
            )
        }
        answer.hasMore = false
        return ([first], answer)
    }
}
