// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel

/// The manifest's policies for starts: `throttle` of a task, `powerPolicy` of the host.
extension Scheduler {
    /// The text of the gate for a task's throttle points.
    func throttleReading(_ throttle: ThrottlePoints, _ entry: Int, now: Moment) -> String {
        let points = throttle.points(now: now.unix)
        let policy = catalog.tasks[pendingIndex.entries.kind(entry).definition].throttle
        guard policy.mode != .off else { return "off" }
        guard points > 0 else { return "no throttle points" }
        var text = "\(points) throttle point\(points == 1 ? "" : "s")"
        if let last = throttle.runs.first { text += "; the last run was \(last.sentence)" }
        guard policy.mode == .dryRun,
            let until = policy.nextStart(throttle, now: now.unix)
        else { return text }
        return text + "; without the dry run it would wait until"
            + " \(Timestamp.text(unixNanoseconds: until))"
    }

    /// The gate of the battery, if `powerPolicy` applies to the task and the task does not require
    /// power itself.
    func powerGate(_ request: Request, task: Int) -> Gate? {
        let kind = catalog.tasks[task].kind
        let policy = catalog.powerPolicy.requirement(of: kind)
        guard !policy.isEmpty, gates.required(by: request, task: task).isDisjoint(with: policy)
        else { return nil }
        let fact = gates.facts?[policy] ?? Fact()
        let isOpen = gates.isPowerSufficient(for: kind)
        return Gate(
            .requirement,
            name: policy.name(probes: []),
            isOpen: isOpen,
            now: (fact.reading.isEmpty ? fact.value.word : fact.reading)
                + (isOpen ? "" : "; `powerPolicy` holds refresh tasks"),
            wanted: policy.wanted,
            source: fact.source,
            since: fact.since,
            remedy: isOpen
                ? "" : "charge the battery, or set `powerPolicy` to \"none\" in `host`",
            condition: "the battery were charged",
            changes: fact.changes
        )
    }
}
