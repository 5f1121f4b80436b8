// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPlugin
internal import BghostWire
internal import CBghost
internal import Synchronization

/// Connects the plugin's runtime with the host.
///
/// The runtime, its sink and its clock are never freed, since the plugin may call them as long as the
/// process lives. So the host is held here only until it has ended.
final class HostLink: RuntimeEventSink, RuntimeClock {
    private struct Ends {
        let core: HostCore
        let runtime: PluginRuntime
        /// Whether the host ends as soon as the plugin has released all runs.
        var isEnding = false
    }

    private let ends = Mutex<Ends?>(nil)

    /// Connects both, before the plugin can call.
    func connect(_ core: HostCore, _ runtime: PluginRuntime) {
        ends.withLock { $0 = Ends(core: core, runtime: runtime) }
    }

    /// Refuses the plugin's calls, closes it once it has released all runs, and then releases the
    /// host.
    ///
    /// The handler of a run may go on for as long as it likes.
    func end() {
        ends.withLock { $0?.isEnding = true }
        closeIfFree()
    }

    /// Releases the host of a plugin that did not open.
    func abandon() {
        let last = take { _ in true }
        last?.runtime.leave()
    }

    private func closeIfFree() {
        let last = take { $0.isEnding && $0.core.read { $0.runSlots.isFree } }
        guard let last else { return }
        // On a thread that may call the plugin: this one may have been called by it.
        last.runtime.afterCallbacks(of: 0) {
            last.runtime.close()
            last.runtime.leave()
        }
    }

    /// Takes both ends apart, if it is time; only the first caller gets them.
    private func take(_ isTime: (Ends) -> Bool) -> Ends? {
        ends.withLock { ends in
            guard let last = ends, isTime(last) else { return nil }
            ends = nil
            return last
        }
    }

    private var core: HostCore? { ends.withLock { $0 }?.core }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Events

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        let completed = Completed(
            run: completion.run,
            status: completion.status,
            retryAfterMilliseconds: completion.retryAfterMilliseconds,
            message: Self.text(completion.message),
            payload: Self.text(completion.payload),
            isReleased: completion.isReleased,
            error: completion.error
        )
        core?.change { $0.completed(completed) }
        if completion.isReleased { closeIfFree() }
    }

    func released(_ run: UInt64) {
        core?.change { $0.runSlots.release(RunSlots.run(of: run)) }
        closeIfFree()
    }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {
        let progress = RunProgress(done: done, total: total, phase: Self.text(phase))
        core?.progress(RunSlots.run(of: run), progress)
    }

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {
        core?.log(RunSlots.run(of: run), level: level, Self.text(text))
    }

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        guard let ends = ends.withLock({ $0 }) else { return false }
        if ends.isEnding {
            ends.runtime.answer(number, HostAnswer(status: BG_E_CLOSED))
        } else if let answer = ends.core.answer(number, run: RunSlots.run(of: run), operation) {
            ends.runtime.answer(number, answer)
        }
        return true
    }

    // MARK: The clock

    var now: (unix: Int64, monotonic: Int64) { core?.time ?? (0, 0) }

    func sleep(_ number: UInt64, run: UInt64, until: Int64) -> Bool {
        let call = OpenCall(number: number, run: RunSlots.run(of: run))
        return core?.change { $0.beginSleep(call, until: until) } ?? false
    }

    func wake(_ number: UInt64) { core?.change { $0.wake(number) } }
}
