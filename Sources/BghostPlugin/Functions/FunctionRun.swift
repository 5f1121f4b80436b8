// SPDX-License-Identifier: Apache-2.0

/// A C function that a runtime can run as a task.
///
/// `ForeignFunction` of `BghostFunctionCalls` is the one that exists. It is behind this protocol so that a
/// host which runs plugins alone, such as the one of handlers' tests, needs no libffi.
package protocol CallableFunction: Sendable {
    /// The name of the function, for messages.
    var symbol: String { get }

    /// Calls the function on this thread, which blocks until the function returns.
    ///
    /// - Parameter parameters: a JSON object: arguments by name, or `{"arguments": [...]}`.
    func call(parameters: String, run: some FunctionRun) -> FunctionOutcome
}

/// The run for which a C function is called, with the operations that the function has.
///
/// Both are called from any thread, including threads of the C code, and without a lock held.
package protocol FunctionRun: Sendable {
    /// Returns 0 while the run may continue, otherwise the `BG_WHY_*` for which it must stop.
    func cancelled() -> UInt32

    /// Ends a run for which `CallableFunction.call` returned `.pending`.
    ///
    /// It is called exactly once for such a run, possibly before `call` has returned, and for no
    /// other run.
    func complete(_ completion: FunctionCompletion)
}

/// The completion of a call.
package struct FunctionCompletion: Equatable, Sendable {
    /// `BG_OK`, or a negative `BG_E_*`.
    package var status: Int32
    /// A message for people; empty after success.
    package var message: String
    /// The function's results, a JSON object.
    package var result: String

    package init(status: Int32, message: String, result: String) {
        self.status = status
        self.message = message
        self.result = result
    }
}

/// The immediate outcome of a call.
package enum FunctionOutcome: Equatable, Sendable {
    /// The function has returned, and the run is over.
    case finished(FunctionCompletion)
    /// The function's `done` ends the run: `FunctionRun.complete` is called later or has been
    /// called.
    case pending
    /// The function was not called.
    case refused(FunctionError)
}
