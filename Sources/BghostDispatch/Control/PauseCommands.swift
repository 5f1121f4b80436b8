// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostCalendar
package import BghostModel
internal import BghostPolicy
package import BghostServices

/// Pauses tasks for an operator, and ends pauses.
///
/// The host owns it. Use it on the reactor's thread only; it does not block.
package final class PauseCommands {
    /// The longest pause for a duration, seconds: later times overflow Unix nanoseconds.
    private static let secondsMax = 36_500 * 86_400

    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let clock: DaemonClock
    private let zone: () -> ZoneTable
    private let activeRuns: () -> [RunRecord]

    /// - Parameters:
    ///   - zone: the zone of the manifest.
    ///   - activeRuns: the records of the current runs.
    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ clock: DaemonClock,
        zone: @escaping () -> ZoneTable,
        activeRuns: @escaping () -> [RunRecord]
    ) {
        self.dispatcher = dispatcher
        self.commits = commits
        self.clock = clock
        self.zone = zone
        self.activeRuns = activeRuns
    }

    /// The pauses in force, the oldest first.
    package func pauses() -> [Pause] { dispatcher.scheduler.pauses }

    /// Pauses tasks at once, and returns when that is stored.
    ///
    /// A second pause of the same target changes its end and its reason.
    package nonisolated(nonsending) func pause(
        _ order: PauseOrder
    ) async throws(OperatorRefusal) -> PauseChange {
        try check(order.target)
        let former = dispatcher.scheduler.pause(of: order.target)
        guard former != nil || dispatcher.scheduler.pauses.count < Pause.countMax else {
            throw OperatorRefusal(
                .unavailable,
                "there are \(Pause.countMax) pauses, which is the limit",
                fix: "pause a plugin or a pattern instead of single tasks"
            )
        }
        let now = clock.wall
        var pause = Pause(
            target: order.target,
            since: former?.since ?? now,
            user: order.user,
            reason: order.reason
        )
        (pause.until, pause.isRelative) = try end(order.end, now: now)
        let wanted = pause
        // Pause first: a request that is due before the change is stored must not start.
        dispatcher.decide { scheduler, now, effects in
            scheduler.pause(wanted, now: now, &effects)
        }
        try await commits.store(
            [.paused(order.target, pause)],
            "\(order.target.subject) is paused"
        )
        return change(pause)
    }

    /// Ends the pause of exactly this target, and returns when that is stored.
    package nonisolated(nonsending) func resume(
        _ target: PauseTarget
    ) async throws(OperatorRefusal) -> PauseChange {
        let pause = dispatcher.decide { scheduler, now, effects in
            scheduler.resume(target, now: now, &effects)
        }
        guard let pause else { throw notPaused(target) }
        try await commits.store([.paused(target, nil)], "the pause has ended")
        return change(pause)
    }

    private func change(_ pause: Pause) -> PauseChange {
        PauseChange(
            pause: pause,
            running: activeRuns().filter { pause.target.covers($0.task, plugin: $0.plugin) }
                .map(\.id).sorted(),
            others: others(of: pause.target)
        )
    }

    /// The pauses in force that cover a target besides its own.
    private func others(of target: PauseTarget) -> [Pause] {
        let scheduler = dispatcher.scheduler
        let covering =
            switch target {
            case .all: [Pause]()
            case .plugin: [scheduler.pause(of: .all)].compactMap { $0 }
            case .tasks(let name): scheduler.pauses(of: name)
            }
        return covering.filter { $0.target != target }
    }

    private func end(
        _ end: PauseOrder.End,
        now: Int64
    ) throws(OperatorRefusal) -> (until: Int64?, isRelative: Bool) {
        switch end {
        case .open: return (nil, false)
        case .after(let seconds):
            let length = Int64(min(max(0, seconds), Self.secondsMax)) * 1_000_000_000
            return (now.addingClamped(length), true)
        case .at(let text):
            let shown = PrintableText.escaped(String(text.prefix(40)))
            guard let until = FutureTime.parse(text, now: now, in: zone()) else {
                throw OperatorRefusal(
                    .badTime,
                    "`\(shown)` is no time for `until`",
                    fix: "give \(FutureTime.forms)"
                )
            }
            guard until > now else {
                throw OperatorRefusal(
                    .badTime,
                    "\(Timestamp.text(unixNanoseconds: until)) is over, so the pause would end at once",
                    fix: "give a time to come"
                )
            }
            return (until, false)
        }
    }

    /// Refuses what no task of the manifest matches.
    private func check(_ target: PauseTarget) throws(OperatorRefusal) {
        guard !dispatcher.scheduler.hasTask(of: target) else { return }
        let shown = PrintableText.escaped(String(target.name.prefix(200)))
        guard case .plugin = target else {
            if target.name.hasSuffix(".*") {
                throw OperatorRefusal(
                    .noSuchTask,
                    "no task of the manifest matches `\(shown)`",
                    fix: "`bghost status` lists them"
                )
            }
            throw dispatcher.noSuchTask(target.name)
        }
        throw dispatcher.noSuchPlugin(target.name)
    }

    private func notPaused(_ target: PauseTarget) -> OperatorRefusal {
        let others = others(of: target)
        let all = dispatcher.scheduler.pauses
        let commands = (others.isEmpty ? all : others).prefix(Gate.idsMax)
            .map { "`\($0.target.resumeCommand)`" }
        let fix =
            if !others.isEmpty {
                "it is paused with others: \(commands.joined(separator: ", "))"
            } else if all.isEmpty {
                "nothing is paused"
            } else {
                "a pause ends by the words with which it began: \(commands.joined(separator: ", "))"
            }
        return OperatorRefusal(
            .notPaused,
            "there is no pause of \(target.subject)",
            fix: fix,
            candidates: all.prefix(Gate.idsMax).map(\.target.subject)
        )
    }
}
