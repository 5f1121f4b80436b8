// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The pauses in force, and the last ones that ended.
///
/// Whether a task is paused costs one lookup for each dot of its identifier, and nothing without pauses. A
/// change costs O(pauses), of which there are at most ``Pause/countMax``.
struct PauseTable: Sendable {
    private var pauses: [PauseTarget: Pause] = [:]
    /// Whether a pause has a pattern.
    private var hasPatterns = false
    /// When the first pause ends by itself, Unix nanoseconds.
    private(set) var nextEnd: Int64?
    /// The pauses that ended last, with their ends as `until`; the history names them as the causes of delays.
    private var ended: [Pause] = []

    /// The number of ended pauses that it knows.
    static let endedMax = 64

    var count: Int { pauses.count }

    subscript(target: PauseTarget) -> Pause? { pauses[target] }

    /// All pauses, the oldest first.
    var all: [Pause] {
        pauses.values.sorted { ($0.since, $0.target.name) < ($1.since, $1.target.name) }
    }

    func isPaused(_ task: String, plugin: @autoclosure () -> String) -> Bool {
        guard !pauses.isEmpty else { return false }
        return pauses[.all] != nil || pauses[.tasks(task)] != nil
            || hasPatterns && stems(of: task).contains { pauses[.tasks($0)] != nil }
            || pauses[.plugin(plugin())] != nil
    }

    /// The pauses of a task, the one that ends last first.
    func pauses(of task: String, plugin: @autoclosure () -> String) -> [Pause] {
        guard !pauses.isEmpty else { return [] }
        let targets =
            [.all, .plugin(plugin()), .tasks(task)]
            // A pattern is its own stem.
            + stems(of: task).filter { $0 != task }.map { PauseTarget.tasks($0) }
        return targets.compactMap { pauses[$0] }
            .sorted { ($0.until ?? .max, $1.since) > ($1.until ?? .max, $0.since) }
    }

    /// The pause of a task that ended last.
    func lastEnded(of task: String, plugin: String) -> Pause? {
        ended.last { $0.target.covers(task, plugin: plugin) }
    }

    private func stems(of task: String) -> some Sequence<String> {
        TaskCatalog.stems(of: task).lazy.map { "\($0)*" }
    }

    mutating func set(_ pause: Pause) {
        pauses[pause.target] = pause
        update()
    }

    /// - Returns: the pause; `nil` if there was none.
    mutating func remove(_ target: PauseTarget, now: Int64) -> Pause? {
        guard let pause = pauses.removeValue(forKey: target) else { return nil }
        update()
        var past = pause
        past.until = now
        ended.append(past)
        if ended.count > Self.endedMax { ended.removeFirst() }
        return pause
    }

    /// The pauses whose end has come, the earliest first.
    func due(now: Int64) -> [Pause] {
        guard let nextEnd, nextEnd <= now else { return [] }
        return all.filter { $0.until ?? .max <= now }
            .sorted { $0.until ?? .max < $1.until ?? .max }
    }

    /// Moves the ends that count from a command by a step of the wall clock.
    ///
    /// - Returns: the pauses that moved.
    mutating func move(by step: Int64) -> [Pause] {
        var moved: [Pause] = []
        for var pause in all {
            guard pause.isRelative, let until = pause.until else { continue }
            pause.until = until.addingClamped(step)
            pauses[pause.target] = pause
            moved.append(pause)
        }
        update()
        return moved
    }

    private mutating func update() {
        hasPatterns = pauses.keys.contains { $0.stem != nil }
        nextEnd = pauses.values.compactMap(\.until).min()
    }
}
