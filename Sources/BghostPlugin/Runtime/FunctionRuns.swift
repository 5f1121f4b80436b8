// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

/// A run of a C function.
///
/// It blocks its own thread until the function returns, or ends when the function calls `done`.
final class ForeignRun: FunctionRun {
    private let runtime: PluginRuntime
    private let slot: RunSlot
    private let run: UInt64

    init(_ runtime: PluginRuntime, _ slot: RunSlot, _ run: UInt64) {
        self.runtime = runtime
        self.slot = slot
        self.run = run
    }

    func cancelled() -> UInt32 {
        let word = slot.current
        guard word.belongs(to: run), word.has(RunWord.isCancelled) else { return 0 }
        return slot.why.load(ordering: .relaxed)
    }

    func complete(_ completion: FunctionCompletion) {
        runtime.finish(slot, run, completion)
        // This is a thread of the C code; settling a function's run calls no plugin code, so it may
        // be done here.
        runtime.finishIfIdle(slot, run)
    }
}

extension PluginRuntime {
    func callFunction(_ function: any CallableFunction, _ slot: RunSlot, _ start: Start) {
        let outcome = function.call(
            parameters: start.parameters,
            run: ForeignRun(self, slot, start.run)
        )
        switch outcome {
        case .finished(let completion): finish(slot, start.run, completion)
        case .pending: break
        case .refused(let error):
            finish(slot, start.run, status: BG_E_ARG, message: "\(function.symbol): \(error)")
        }
        // While the flag is set, the run is not released, so the word is its own.
        _ = slot.change(start.run, clear: RunWord.isInStart)
        finishIfIdle(slot, start.run)
    }

    func finish(_ slot: RunSlot, _ run: UInt64, _ completion: FunctionCompletion) {
        guard completion.result.utf8.count <= Int(slot.info.pointee.max_result) else {
            finish(
                slot,
                run,
                status: BG_E_LIMIT,
                message: "its result is \(completion.result.utf8.count) bytes long; the limit is"
                    + " \(slot.info.pointee.max_result)"
            )
            return
        }
        finish(
            slot,
            run,
            status: min(0, completion.status),
            message: completion.message,
            payload: completion.result
        )
    }
}
