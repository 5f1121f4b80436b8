// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctionCalls
@testable import BghostPlugin
import Glibc
import Testing

/// `done` and `cancelled`, for C code that has no context pointer.
///
/// One after the other, since they share the gate and the kept callbacks of one fixture.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CallbackTests {
    private func function(_ symbol: String, _ signature: String) throws -> ForeignFunction {
        try FunctionFixture.function(symbol, signature, in: "callbacks")
    }

    @Test(arguments: [1, 2, 1000])
    func `Cancelled is polled`(_ polls: Int) throws {
        let poll = try function("poll_cancelled", "int(cancelled)")
        let outcome = poll.call(parameters: "{}", run: RecordedRun(stopsAtPoll: polls))
        #expect(
            outcome
                == .finished(
                    FunctionCompletion(
                        status: 0,
                        message: "",
                        result: #"{"result":\#(polls),"errno":0}"#
                    )
                )
        )
    }

    @Test func `Callbacks leave errno alone`() throws {
        let across = try function("errno_across", "int(cancelled)")
        #expect(try across.answer("{}").result == #"{"result":1234,"errno":1234}"#)
    }

    @Test(arguments: [(0, 0), (1, -1), (-1, -1), (-2, -2), (-3, -3), (-10, -1), (-1000, -1)])
    func `Done on the own stack`(_ said: Int, _ status: Int) async throws {
        let function = try function("done_at_once", "int(status: int, done)")
        let run = RecordedRun()
        #expect(function.call(parameters: #"{"status": \#(said)}"#, run: run) == .pending)
        let completion = try #require(await run.completion())
        #expect(completion.status == Int32(status))
        // What the function returned after it had called `done` is there.
        #expect(completion.result == #"{"result":42,"errno":0,"status":\#(said)}"#)
        #expect(completion.message.isEmpty == (status == 0))
        #expect(run.completionCount == 1)
    }

    @Test func `The first done counts`() async throws {
        let twice = try function("done_twice", "void(done)")
        let run = RecordedRun()
        #expect(twice.call(parameters: "{}", run: run) == .pending)
        #expect(await run.completion()?.status == 0)
        #expect(run.completionCount == 1)
    }

    /// The thread reads its input and writes its answer after the function has returned.
    @Test func `Done from another thread`() async throws {
        let later = try function(
            "sum_later",
            """
            int(data: bytes, count: size = lengthOf(data), sum: out ulong, status: int = 0,
                done(string)) == 0
            """
        )
        let gate = try function("gate_open", "void()")
        let run = RecordedRun()
        let data = String(repeating: "a", count: 50_000)
        #expect(later.call(parameters: #"{"data": "\#(data)"}"#, run: run) == .pending)
        #expect(run.completionCount == 0)
        _ = try gate.answer("{}")
        let completion = try #require(await run.completion())
        #expect(
            completion
                == FunctionCompletion(
                    status: 0,
                    message: "",
                    result: #"{"result":0,"out":{"sum":4850000},"errno":0,"status":0,"#
                        + #""text":"summed"}"#
                )
        )
    }

    /// A function that says by its result that it has not begun will not call `done`.
    @Test func `A failed start ends the run`() throws {
        let keep = try function("keep", "int(answer: int, cancelled, done) == 0")
        let run = RecordedRun()
        guard case .finished(let completion) = keep.call(parameters: #"{"answer": 5}"#, run: run)
        else { return #expect(Bool(false), "it waits for a `done` that cannot come") }
        #expect(completion.status == -1)
        #expect(completion.message.contains("`keep` answered 5, which is not == 0"))
        #expect(run.completionCount == 0)
    }

    @Test func `Callbacks that outlive their run`() async throws {
        let keep = try function("keep", "int(answer: int, cancelled, done) == 0")
        let run = RecordedRun()
        #expect(keep.call(parameters: #"{"answer": 0}"#, run: run) == .pending)
        #expect(await run.completion()?.status == 0)
        for symbol in ["use_kept", "use_kept_on_thread", "use_kept"] {
            // The run is over: `done` changes nothing and `cancelled` says "stop" (3: drain).
            #expect(try function(symbol, "int()").answer("{}").result.contains(#""result":3,"#))
        }
        #expect(run.completionCount == 1)
    }

    @Test func `Refused parameters use up no callback`() throws {
        let function = try function("done_at_once", "int(status: int, done)")
        for _ in 0..<20_000 {
            guard function.refusal("{}") != nil else {
                return #expect(Bool(false), "a missing argument was not noticed")
            }
        }
        #expect(!ForeignFunction.isProcessWorn)
    }

    @Test func `Many runs at once`() async throws {
        let later = try function(
            "sum_later",
            """
            int(data: bytes, count: size = lengthOf(data), sum: out ulong, status: int = 0,
                done(string)) == 0
            """
        )
        let gate = try function("gate_open", "void()")
        let runs = (0..<200).map { _ in RecordedRun() }
        for (index, run) in runs.enumerated() {
            let data = String(repeating: "b", count: index)
            #expect(later.call(parameters: #"{"data": "\#(data)"}"#, run: run) == .pending)
        }
        for _ in runs { _ = try gate.answer("{}") }
        for (index, run) in runs.enumerated() {
            let sum = index * 98
            #expect(await run.completion()?.result.contains(#""sum":\#(sum)}"#) == true)
            #expect(run.completionCount == 1)
        }
    }

    // Where the system refuses the memory that callbacks need, as under W^X rules, the call is
    // refused; it would otherwise be a jump to null. Here the limit is on address space, which makes
    // the same allocation fail.
    @Test(.disabled(if: sanitizerIsOn)) func `Callbacks that cannot be made`() async {
        await #expect(processExitsWith: .success) {
            let function = try FunctionFixture.function(
                "done_at_once",
                "int(status: int, done)",
                in: "callbacks"
            )
            #expect(function.call(parameters: #"{"status": 0}"#, run: RecordedRun()) == .pending)
            _ = try FunctionFixture.function("starve", "int() == 0", in: "callbacks").answer("{}")
            var outcome = FunctionOutcome.pending
            while outcome == .pending {
                outcome = function.call(parameters: #"{"status": 0}"#, run: RecordedRun())
            }
            guard case .refused(.callbackRefused) = outcome else { exit(1) }
            exit(0)
        }
    }

    /// In a process of its own, because the bound is the process's.
    @Test func `Callbacks are bounded`() async {
        await #expect(processExitsWith: .success) {
            let function = try FunctionFixture.function(
                "done_at_once",
                "int(status: int, done)",
                in: "callbacks"
            )
            var calls = 0
            while true {
                let wasWorn = ForeignFunction.isProcessWorn
                let run = RecordedRun()
                let outcome = function.call(parameters: #"{"status": 0}"#, run: run)
                guard outcome == .pending else {
                    #expect(outcome == .refused(.callbacksSpent))
                    // There was warning in time.
                    #expect(wasWorn)
                    break
                }
                calls += 1
                #expect(wasWorn == (calls > 12_289))
                #expect(run.completionCount == 1)
            }
            #expect(calls == 16_384)
        }
    }
}
