// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Pauses: nothing of a paused task starts.
///
/// Runs in progress continue. A request waits for the end of the pause, except that of a schedule: its start
/// does not happen, and the next one is submitted.
extension Scheduler {
    /// The pauses in force, the oldest first.
    package var pauses: [Pause] { gates.pauses.all }

    /// The pause of exactly this target.
    package func pause(of target: PauseTarget) -> Pause? { gates.pauses[target] }

    /// Whether all tasks of a plugin are paused together.
    package func isPaused(plugin name: String) -> Bool {
        gates.pauses[.all] != nil || gates.pauses[.plugin(name)] != nil
    }

    /// The pauses of a task, the one that ends last first.
    package func pauses(of task: String) -> [Pause] {
        guard gates.pauses.count > 0 else { return [] }
        return gates.pauses.pauses(of: task, plugin: pluginName(of: task))
    }

    /// The plugins and functions of the manifest, in any order.
    package var pluginNames: [String] { Array(catalog.currentPlugins.keys) }

    /// Whether the manifest has a task for a target; else the target is misspelt.
    package func hasTask(of target: PauseTarget) -> Bool {
        switch target {
        case .all: true
        case .plugin(let name): catalog.currentPlugins[name] != nil
        case .tasks(let name):
            if let stem = target.stem {
                catalog.currentTasks.contains {
                    let own = catalog.tasks[$0].identifier.description
                    return own.hasPrefix(stem) || own == name
                        || catalog.tasks[$0].identifier.isFamily && stem.hasPrefix(own.dropLast())
                }
            } else {
                catalog.task(for: name) != nil
            }
        }
    }

    /// Pauses tasks, or changes the pause of exactly this target.
    package mutating func pause(
        _ pause: Pause,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.paused(pause), at: now)
        gates.pauses.set(pause)
        effects.append(.log(.paused(pause)))
        // A request of a schedule that is due has missed its start from now on, without another event.
        startReadyRequests(now: now, &effects)
    }

    /// Ends a pause; other pauses of its tasks stay.
    ///
    /// The cost is O(log n) for each request that has waited for it.
    ///
    /// - Returns: the pause; `nil` if there is none of exactly this target.
    package mutating func resume(
        _ target: PauseTarget,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Pause? {
        recordInput(.resumed(target), at: now)
        guard let pause = gates.pauses.remove(target, now: now.unix) else { return nil }
        effects.append(.log(.resumed(pause, isDue: false)))
        recheckPaused(now: now)
        startReadyRequests(now: now, &effects)
        return pause
    }

    /// Restores a pause, before `start`.
    package mutating func restore(_ pause: Pause, now: Moment) {
        recordInput(.restoredPause(pause), at: now)
        gates.pauses.set(pause)
    }

    /// Ends the pauses whose end has come.
    mutating func endPauses(now: Moment, _ effects: inout [SchedulerEffect]) {
        let due = gates.pauses.due(now: now.unix)
        guard !due.isEmpty else { return }
        for pause in due {
            // It is `pause`, as just read from the table.
            _ = gates.pauses.remove(pause.target, now: now.unix)
            effects.append(.commit([.paused(pause.target, nil)]))
            effects.append(.log(.resumed(pause, isDue: true)))
        }
        recheckPaused(now: now)
    }

    private mutating func recheckPaused(now: Moment) {
        for entry in pendingIndex.takePaused() {
            guard pendingIndex.entries.isInUse(entry) else { continue }
            pendingIndex.recheck(entry: entry, now: now.unix)
        }
    }

    func isPaused(entry: Int) -> Bool {
        gates.pauses.count > 0
            && gates.isPaused(
                pendingIndex.entries[entry].identifier,
                task: pendingIndex.entries.kind(entry).definition
            )
    }

    /// The name of the plugin of a task; "" if the manifest does not permit the task.
    func pluginName(of task: String) -> String {
        (catalog.task(for: task) ?? catalog.family(task))
            .map { catalog.plugin(ofTask: $0).name } ?? ""
    }

    /// The gate of a paused request; `nil` if it is not paused.
    func pauseGate(_ request: Request, now: Moment) -> Gate? {
        // A pause whose end has passed ends at the next check.
        let pauses = pauses(of: request.task).filter { $0.until ?? .max > now.unix }
        guard let last = pauses.first else { return nil }
        return Gate(
            .paused,
            isOpen: false,
            now: "paused " + pauses.map { $0.clause(of: request.task) }.joined(separator: "; "),
            wanted: "no pause",
            since: pauses.map(\.since).min(),
            until: last.until,
            remedy: pauses.map { "`\($0.target.resumeCommand)`" }.joined(separator: " and "),
            condition: "it were not paused"
        )
    }

    /// A sentence that a task is paused, with the command that ends the pause; `nil` if it is not paused.
    func pausedSentence(_ task: String) -> String? {
        guard let pause = pauses(of: task).first else { return nil }
        return "\(task) is paused \(pause.clause(of: task)), since"
            + " \(Timestamp.text(unixNanoseconds: pause.since))"
            + (pause.until.map { " until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
            + "; `\(pause.target.resumeCommand)` ends the pause"
    }
}

extension RunGates {
    /// - Parameter task: the index of the task of the identifier.
    func isPaused(_ identifier: String, task: Int) -> Bool {
        pauses.isPaused(identifier, plugin: catalog.plugins[catalog.pluginOfTask[task]].name)
    }
}
