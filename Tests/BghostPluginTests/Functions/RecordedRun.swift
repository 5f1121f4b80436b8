// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctionCalls
@testable import BghostPlugin
import BghostTestSupport
import Glibc
import Synchronization

/// A run that keeps what it is told, and asks to stop after a number of polls.
final class RecordedRun: FunctionRun {
    /// Every completion, in order; more than one is a fault.
    let completions: AsyncStream<FunctionCompletion>
    private let continuation: AsyncStream<FunctionCompletion>.Continuation
    private let count = Atomic<Int>(0)
    private let pollsLeft: Atomic<Int>

    init(stopsAtPoll poll: Int = .max) {
        pollsLeft = Atomic(poll)
        (completions, continuation) = AsyncStream.makeStream()
    }

    var completionCount: Int { count.load(ordering: .acquiring) }

    func cancelled() -> UInt32 {
        pollsLeft.subtract(1, ordering: .relaxed).newValue <= 0 ? 2 : 0
    }

    func complete(_ completion: FunctionCompletion) {
        count.add(1, ordering: .acquiringAndReleasing)
        continuation.yield(completion)
    }

    /// Waits for the first completion.
    func completion() async -> FunctionCompletion? {
        await completions.first { _ in true }
    }
}

/// The functions of this folder's fixtures.
enum FunctionFixture {
    static func library(_ name: String) throws -> String {
        try Fixture.library(source: PackageRoot.path + "/Tests/Fixtures/Functions/\(name).c")
    }

    static func function(
        _ symbol: String,
        _ signature: String,
        in name: String = "values"
    ) throws -> ForeignFunction {
        try ForeignFunction(library: try library(name), symbol: symbol, signature: signature)
    }
}

/// Whether a sanitizer is at work, which needs address space and keeps freed memory.
let sanitizerIsOn = ["__asan_init", "__tsan_init"].contains { (name: String) in
    dlsym(nil, name) != nil
}

/// A call that did not return with an answer.
struct NotFinished: Error {
    var outcome: FunctionOutcome
}

extension ForeignFunction {
    /// Calls it on behalf of a run of its own.
    func answer(_ parameters: String) throws -> FunctionCompletion {
        let outcome = call(parameters: parameters, run: RecordedRun())
        guard case .finished(let completion) = outcome else { throw NotFinished(outcome: outcome) }
        return completion
    }

    /// Why the parameters are refused; `nil` if the function was called.
    func refusal(_ parameters: String) -> String? {
        guard case .refused(let error) = call(parameters: parameters, run: RecordedRun()) else {
            return nil
        }
        return error.description
    }
}
