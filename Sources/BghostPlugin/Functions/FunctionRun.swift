// SPDX-License-Identifier: Apache-2.0

/// The run on whose behalf a C function is called, as the function can see it.
///
/// Both are called from any thread, also from threads that the C code made, and in no lock.
package protocol FunctionRun: Sendable {
    /// 0 while the run may go on, else the `BG_WHY_*` for which it must stop.
    func cancelled() -> UInt32

    /// Ends a run whose call was answered `.pending`; called exactly once for such a run, maybe
    /// before `ForeignFunction.call` has returned, and for no other.
    func complete(_ completion: FunctionCompletion)
}

/// How a call ended.
package struct FunctionCompletion: Equatable, Sendable {
    /// `BG_OK`, or a negative `BG_E_*`.
    package var status: Int32
    /// For people; empty if all went well.
    package var message: String
    /// What the function answered, a JSON object.
    package var result: String

    package init(status: Int32, message: String, result: String) {
        self.status = status
        self.message = message
        self.result = result
    }
}

/// What became of a call.
package enum FunctionOutcome: Equatable, Sendable {
    /// The function has returned and that is all.
    case finished(FunctionCompletion)
    /// The run ends by the function's `done`: `FunctionRun.complete` is, or has been, called.
    case pending
    /// Nothing was called.
    case refused(FunctionError)
}
