// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// The state of all checks: which are done, in progress, or ready.
///
/// Any thread may use it.
final class CheckProgress: @unchecked Sendable {
    // @unchecked: `lock` protects all mutable state.

    /// One check, of the plugin or of one handler.
    struct Unit {
        let check: Check
        /// `nil` for a check of the whole plugin, and for a check of handlers until they are known.
        let handler: String?
        fileprivate var isTaken = false
        fileprivate var result: CheckResult?

        fileprivate init(_ check: Check, handler: String? = nil) {
            self.check = check
            self.handler = handler
        }
    }

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    /// In the order of the catalog.
    private var units: [Unit]
    private let onlyHandler: String?
    private var known: CheckedPlugin?
    private var failure: SystemError?

    init(_ checks: [Check], handler: String?) {
        units = checks.map { Unit($0) }
        onlyHandler = handler
        lock = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    private func locked<T>(_ body: () -> T) -> T {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    var plugin: CheckedPlugin? { locked { known } }
    var error: SystemError? { locked { failure } }

    /// Waits for a check that is ready and returns it; `nil` once no checks remain.
    func next() -> Unit? {
        locked {
            while failure == nil {
                skip()
                let index = units.firstIndex { !$0.isTaken && $0.result == nil && isReady($0) }
                if let index {
                    units[index].isTaken = true
                    return units[index]
                }
                guard units.contains(where: { $0.result == nil }) else { return nil }
                pthread_cond_wait(changed, lock)
            }
            return nil
        }
    }

    /// Records the outcome of a check.
    func finish(_ unit: Unit, _ outcome: Result<(CheckResult, CheckedPlugin?), SystemError>) {
        locked {
            switch outcome {
            case .failure(let error): failure = failure ?? error
            case .success((let result, let plugin)):
                let index = units.firstIndex {
                    $0.check.id == unit.check.id && $0.handler == unit.handler
                }
                if let index { units[index].result = result }
                if let plugin, known == nil { record(plugin) }
            }
            skip()
            pthread_cond_broadcast(changed)
        }
    }

    /// The results after the first `count`, as far as all results before them exist.
    ///
    /// Waits for some; returns `nil` once there are no more.
    func results(after count: Int) -> [CheckResult]? {
        locked {
            while failure == nil {
                let more = units.dropFirst(count).prefix { $0.result != nil }
                if !more.isEmpty { return more.compactMap(\.result) }
                guard units.count > count else { return nil }
                pthread_cond_wait(changed, lock)
            }
            return nil
        }
    }

    // MARK: With the lock held

    /// Replaces each check of handlers by one check per handler.
    private func record(_ plugin: CheckedPlugin) {
        known = plugin
        let names = plugin.handlers.map(\.name).filter { onlyHandler == nil || onlyHandler == $0 }
        units = units.flatMap { unit in
            unit.check.scope == .handler && unit.handler == nil
                ? names.map { Unit(unit.check, handler: $0) } : [unit]
        }
    }

    private func needed(by unit: Unit) -> [Unit] {
        units.filter { other in
            unit.check.needs.contains(other.check.id)
                && (unit.handler == nil || other.handler == nil || other.handler == unit.handler)
        }
    }

    private func isReady(_ unit: Unit) -> Bool {
        (unit.check.scope != .handler || unit.handler != nil)
            && needed(by: unit).allSatisfy { $0.result != nil }
    }

    /// Skips every check that cannot be performed, and then the checks that need a skipped one.
    private func skip() {
        var isChanged = true
        // Most often each check carries the others, and no need has to be looked at.
        while isChanged, units.contains(where: { $0.result?.carriesOthers == false }) {
            isChanged = false
            for index in units.indices where !units[index].isTaken && units[index].result == nil {
                let missing = needed(by: units[index]).first { $0.result?.carriesOthers == false }
                guard let missing else { continue }
                var result = CheckResult(
                    of: units[index].check,
                    handler: units[index].handler,
                    .skipped("`\(missing.check.id)` must pass first")
                )
                result.isForWantOfOthers = true
                units[index].result = result
                isChanged = true
                // Threads that wait for results must also receive those of skipped checks.
                pthread_cond_broadcast(changed)
            }
        }
    }
}
