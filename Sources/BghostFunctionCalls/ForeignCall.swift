// SPDX-License-Identifier: Apache-2.0
import BghostFunctions
import BghostPlugin
import CBghost
import Glibc
import Synchronization

/// One call of a C function, from its start until its run is over.
///
///   entered ──returned──► waiting ──done──► over    with `done`, the later of the two ends it
///    └──────done──────► called ──returned──► over
///   entered ──returned──► over    without `done`, or if the result means that it will not come
///
/// Callbacks keep this object alive for ever, so it releases the run and the memory when it is
/// over. Later callbacks find neither and change nothing.
final class ForeignCall<Run: FunctionRun>: CallbackTarget {
    private struct State {
        var run: Run?
        var report: CallReport?
        var returned: Int32?
        var done: CallReport.Done?
    }

    private let state: Mutex<State>
    private let endsByCallback: Bool

    init(run: Run, report: CallReport) {
        endsByCallback = report.frame.signature.endsByCallback
        state = Mutex(State(run: run, report: report))
    }

    // MARK: - From the C function

    /// Returns whether to stop.
    ///
    /// After the end it tells remaining threads of the C code to stop.
    func cancelled() -> Int32 {
        // Call the run outside the lock, since its code is unknown here.
        guard let run = state.withLock({ $0.run }) else { return Int32(BG_WHY_DRAIN) }
        return Int32(clamping: run.cancelled())
    }

    func done(status: Int32, text: UnsafeRawPointer?) {
        let done = CallReport.Done(status: status, text: text)
        let end = state.withLock { state -> End? in
            guard state.report != nil, state.done == nil else { return nil }
            state.done = done
            return state.returned.flatMap { Self.end(&state, errno: $0) }
        }
        end.map { $0.run.complete($0.report.completion(errno: $0.errno, done: done)) }
    }

    // MARK: - From the caller

    /// Releases the run and the memory when the function is not entered after all.
    func abandon() {
        state.withLock { state in (state.run, state.report) = (nil, nil) }
    }

    /// Records that the function has returned with this `errno`.
    func returned(errno code: Int32) -> FunctionOutcome {
        let step = state.withLock { state -> Step in
            state.returned = code
            let mustWait = endsByCallback && state.report?.succeeded == true
            guard !mustWait || state.done != nil, let end = Self.end(&state, errno: code) else {
                return .pending
            }
            return mustWait ? .over(end, state.done) : .finished(end)
        }
        switch step {
        case .pending: return .pending
        case .finished(let end):
            return .finished(end.report.completion(errno: code, done: nil))
        case .over(let end, let done):
            end.run.complete(end.report.completion(errno: code, done: done))
            return .pending
        }
    }

    private enum Step {
        case pending
        /// The function has returned and has called `done` with this.
        case over(End, CallReport.Done?)
        /// The function has returned and will not call `done`.
        case finished(End)
    }

    private struct End {
        var run: Run
        var report: CallReport
        var errno: Int32
    }

    /// Takes the state that is needed to report the end; only the first caller gets it.
    private static func end(_ state: inout State, errno: Int32) -> End? {
        guard let run = state.run, let report = state.report else { return nil }
        (state.run, state.report) = (nil, nil)
        return End(run: run, report: report, errno: errno)
    }
}
