// SPDX-License-Identifier: Apache-2.0

internal import BghostFleetRules
internal import BghostLinux
internal import BghostModel
internal import BghostServices

/// The calls of a fleet's link: one at a time, on a thread of their own.
///
/// A renewal precedes all else, since the lease depends on it. After a call that failed, claims and their ends
/// wait for the next answered renewal: each of them would wait for its time limit again.
///
/// Use it on the reactor's thread only; it does not block.
final class FleetCalls {
    /// A question of an operator.
    private struct Question {
        /// Asks on the link's thread and answers the operator; returns why there is no answer.
        let ask: @Sendable (any FleetLink) -> FleetProblem?
        let refuse: @Sendable (FleetProblem) -> Void
    }

    private let link: any FleetLink
    private let reactor: Reactor
    private let thread = WorkThread()
    private let renewed: (Result<FleetRenewal, FleetProblem>) -> Void
    private let answered: ([FleetClaim], [FleetAnswer]) -> Void
    /// What computes the fingerprint of the tasks for the renewal that is due; `nil` if none is.
    private var tasks: (@Sendable () -> String)?
    private var queue = FleetQueue()
    private var questions: [Question] = []
    private var wasQuestion = false
    private var isCalling = false
    private var isScheduled = false
    /// Whether claims and their ends wait for the next answered renewal.
    private var isHeld = false
    private var isLeaving = false
    private var leaver: CheckedContinuation<Void, Never>?
    private lazy var reference = ReactorReference(self, on: reactor)

    /// - Parameters:
    ///   - renewed: called with the answer to each renewal.
    ///   - answered: called with claims and the answer to each of them.
    init(
        _ link: any FleetLink,
        on reactor: Reactor,
        renewed: @escaping (Result<FleetRenewal, FleetProblem>) -> Void,
        answered: @escaping ([FleetClaim], [FleetAnswer]) -> Void
    ) {
        self.link = link
        self.reactor = reactor
        self.renewed = renewed
        self.answered = answered
    }

    // MARK: Calls

    /// Renews the lease after the call that is under way.
    ///
    /// - Parameter tasks: called on the link's thread.
    func renew(_ tasks: @escaping @Sendable () -> String) {
        guard !isLeaving else { return }
        self.tasks = tasks
        schedule()
    }

    func claim(_ claim: FleetClaim) {
        guard !isLeaving else { return }
        queue.claim(claim)
        schedule()
    }

    func release(_ claim: FleetClaim, _ release: FleetRelease) {
        queue.release(claim, release)
        schedule()
    }

    /// Forgets the claims that were not sent.
    func removeClaims() { queue.removeClaims() }

    /// Asks the store a question of an operator.
    nonisolated(nonsending) func ask<Value: Sendable>(
        _ question: @escaping @Sendable (any FleetLink) throws(FleetProblem) -> Value
    ) async -> Result<Value, FleetProblem> {
        guard !isLeaving else { return .failure(Self.leaving) }
        return await withCheckedContinuation { reply in
            questions.append(
                Question { link in
                    do throws(FleetProblem) {
                        reply.resume(returning: .success(try question(link)))
                        return nil
                    } catch {
                        reply.resume(returning: .failure(error))
                        return error
                    }
                } refuse: {
                    reply.resume(returning: .failure($0))
                }
            )
            schedule()
        }
    }

    /// Sends the ends of claims that the fleet does not have yet, leaves the fleet and ends the thread.
    ///
    /// Claims and questions that were not sent are dropped. After a call without an answer nothing is sent, so
    /// this returns a quarter of the lease after the last answer at the latest.
    nonisolated(nonsending) func leave() async {
        isLeaving = true
        tasks = nil
        queue.removeClaims()
        refuseQuestions(Self.leaving)
        await withCheckedContinuation { continuation in
            leaver = continuation
            schedule()
        }
        thread.end()
    }

    private static let leaving = FleetProblem(.unreachable, "this host leaves its fleet now")

    // MARK: The thread

    /// Lets the next call begin after what happens now, so that one call has all claims of a turn.
    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        reference.perform { calls in
            calls.isScheduled = false
            calls.advance()
        }
    }

    /// Begins the next call unless one is under way.
    private func advance() {
        guard !isCalling else { return }
        if let tasks {
            self.tasks = nil
            call { link throws(FleetProblem) in
                try link.renew(tasks: tasks())
            } then: { calls, result in
                // Before the answer is used: it may lead to claims.
                if case .success = result { calls.isHeld = false }
                calls.renewed(result)
            }
        } else if !questions.isEmpty, !wasQuestion || isHeld || queue.isEmpty {
            // Otherwise questions and claims take turns.
            wasQuestion = true
            ask(questions.removeFirst())
        } else if !isHeld, let next = queue.next() {
            wasQuestion = false
            send(next)
        } else if let leaver {
            self.leaver = nil
            thread.perform { [link] in
                link.leave()
                leaver.resume()
            }
        }
    }

    private func send(_ next: FleetQueue.Call) {
        switch next {
        case .claim(let claims):
            call { link throws(FleetProblem) in
                try link.claim(claims)
            } then: { calls, result in
                // The next renewal finds out what is wrong, and claims them again.
                let answers =
                    switch result {
                    case .success(let answers): answers
                    case .failure: claims.map { _ in FleetAnswer.unknown }
                    }
                calls.answered(claims, answers)
            }
        case .release(let claims, let release):
            call { link throws(FleetProblem) in
                try link.release(claims, release)
            } then: { calls, result in
                if case .failure = result { calls.queue.putBack(claims, release) }
            }
        }
    }

    private func ask(_ question: Question) {
        isCalling = true
        thread.perform { [link, reference] in
            let problem = question.ask(link)
            reference.perform { calls in
                calls.isCalling = false
                // Another failure, such as a refused statement, concerns this question only.
                if let problem, problem.kind == .unreachable { calls.note(problem) }
                calls.schedule()
            }
        }
    }

    private func call<Value: Sendable>(
        _ body: @escaping @Sendable (any FleetLink) throws(FleetProblem) -> Value,
        then handle: @escaping @Sendable (FleetCalls, Result<Value, FleetProblem>) -> Void
    ) {
        isCalling = true
        thread.perform { [link, reference] in
            let result: Result<Value, FleetProblem>
            do throws(FleetProblem) {
                result = .success(try body(link))
            } catch {
                result = .failure(error)
            }
            reference.perform { calls in
                calls.isCalling = false
                if case .failure(let problem) = result { calls.note(problem) }
                handle(calls, result)
                calls.schedule()
            }
        }
    }

    // MARK: Failures

    private func note(_ problem: FleetProblem) {
        isHeld = true
        if problem.kind == .unreachable { refuseQuestions(problem) }
    }

    private func refuseQuestions(_ problem: FleetProblem) {
        let refused = questions
        questions = []
        for question in refused { question.refuse(problem) }
    }
}
