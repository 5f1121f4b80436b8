// SPDX-License-Identifier: Apache-2.0

/// The run for which a C function is called, with the operations that the function has.
///
/// Both are called from any thread, including threads of the C code, and without a lock held.
protocol FunctionRun: Sendable {
    /// Returns 0 while the run may continue, otherwise the `BG_WHY_*` for which it must stop.
    func cancelled() -> UInt32

    /// Ends a run for which `ForeignFunction.call` returned `.pending`.
    ///
    /// It is called exactly once for such a run, possibly before `call` has returned, and for no
    /// other run.
    func complete(_ completion: FunctionCompletion)
}

/// The completion of a call.
struct FunctionCompletion: Equatable, Sendable {
    /// `BG_OK`, or a negative `BG_E_*`.
    var status: Int32
    /// A message for people; empty after success.
    var message: String
    /// The function's results, a JSON object.
    var result: String

    init(status: Int32, message: String, result: String) {
        self.status = status
        self.message = message
        self.result = result
    }
}

/// The immediate outcome of a call.
enum FunctionOutcome: Equatable, Sendable {
    /// The function has returned, and the run is over.
    case finished(FunctionCompletion)
    /// The function's `done` ends the run: `FunctionRun.complete` is called later or has been
    /// called.
    case pending
    /// The function was not called.
    case refused(FunctionError)
}
