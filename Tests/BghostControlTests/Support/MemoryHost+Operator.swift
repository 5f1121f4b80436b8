// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy
import BghostTestSupport

/// Dead letters, throttling, uses, plugins and backups.
extension MemoryHost {
    // MARK: - What tests do

    func die(_ letter: DeadLetter) { dead.append(letter) }

    func answer(_ changes: [Result<DeadLetterChange, OperatorRefusal>]) { self.changes = changes }

    func save(_ checkpoint: CheckpointSummary) { checkpoints.append(checkpoint) }

    func throttle(_ status: ThrottleStatus) { throttled[status.task] = status }

    func allowBackup(to path: String, bytes: UInt64) { backup = (path, bytes) }

    func wait(_ request: PendingRequest) { pending[request.task] = request }

    // MARK: - HostControl

    func pending(_ question: PendingQuestion) throws(OperatorRefusal) -> PendingList {
        pendingQuestions.append(question)
        if let cursor = question.cursor {
            guard case .pending(1, _, _) = cursor else {
                throw OperatorRefusal(.staleCursor, "made by another daemon")
            }
        }
        let all = pending.values.filter { question.tasks?.matches($0.task) ?? true }
            .sorted { $0.task < $1.task }
        let hasMore = all.count > question.limit
        let next = PageCursor.pending(generation: 1, place: 2, id: RunID(high: 3, low: 4)).text
        return PendingList(
            requests: Array(all.prefix(question.limit)),
            total: all.count,
            next: hasMore ? next : nil
        )
    }

    func tag(_ task: String, _ names: String...) { tags[task] = names }

    func cancelPending(
        _ which: Withdrawal,
        expected: Int?
    ) throws(OperatorRefusal) -> [PendingRequest] {
        if case .tag(let tag) = which, !tags.values.contains(where: { $0.contains(tag) }) {
            throw .noSuchTag(tag, among: Set(tags.values.joined()))
        }
        let all = pending.values.filter { request in
            switch which {
            case .all: true
            case .task(let task): request.task == task
            case .tag(let tag): tags[request.task]?.contains(tag) ?? false
            }
        }.sorted { $0.task < $1.task }
        if let expected, all.count != expected {
            throw .countChanged(
                "pending request",
                expected: expected,
                found: all.count,
                listing: "bghost pending"
            )
        }
        for request in all { pending[request.task] = nil }
        return all
    }

    func deadLetters(_ question: DeadLetterQuestion) throws(OperatorRefusal) -> DeadLetterPage {
        deadLetterQuestions.append(question)
        if let plugin = question.plugin, plugin != "storm" {
            throw OperatorRefusal(.noSuchPlugin, "there is no plugin \(plugin)")
        }
        var page = DeadLetterPage()
        page.insert(
            dead.filter { question.tasks?.matches($0.request.task) ?? true },
            limit: question.limit
        )
        return page
    }

    func redrive(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) throws(OperatorRefusal) -> DeadLetterChange {
        choices.append(choice)
        expectations.append(expected)
        return changes.isEmpty ? DeadLetterChange() : try changes.removeFirst().get()
    }

    func discard(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) throws(OperatorRefusal) -> DeadLetterChange {
        try redrive(choice, expected: expected)
    }

    func checkpoints(_ question: CheckpointQuestion) throws(OperatorRefusal) -> CheckpointPage {
        checkpointQuestions.append(question)
        var query = CheckpointQuery(
            tasks: question.tasks,
            plugin: question.plugin,
            limit: question.limit
        )
        if let cursor = question.cursor {
            guard case .checkpoints(let request) = cursor else {
                throw OperatorRefusal(.badCursor, "that of another list")
            }
            query.after = request
        }
        let found = checkpoints.filter { query.matches($0) && $0.request < query.start }
            .sorted { $0.request > $1.request }
        let page = Array(found.prefix(question.limit))
        return CheckpointPage(
            checkpoints: page,
            next: page.count < found.count ? page.last?.request : nil
        )
    }

    func deleteCheckpoint(
        ofRequest prefix: String
    ) throws(OperatorRefusal) -> CheckpointSummary {
        let index = checkpoints.firstIndex { $0.request.description.hasPrefix(prefix) }
        guard let index else {
            throw OperatorRefusal(.noSuchCheckpoint, "no request has a checkpoint", fix: "look")
        }
        return checkpoints.remove(at: index)
    }

    func throttles(task: String?) -> [ThrottleStatus] {
        throttled.values.filter { task == nil || $0.task == task }.sorted { $0.task < $1.task }
    }

    func clearThrottle(task: String) -> ThrottleStatus {
        throttled.removeValue(forKey: task) ?? ThrottleStatus(task: task)
    }

    func uses(task: String?) -> [UseStatus] {
        learned.values.filter { task == nil || $0.task == task }.sorted { $0.task < $1.task }
    }

    func use(task: String) throws(OperatorRefusal) -> UseStatus {
        guard let status = learned[task] else {
            throw OperatorRefusal(.notPermitted, "it does not learn", fix: "have it learn")
        }
        return status
    }

    func forgetUses(task: String) throws(OperatorRefusal) -> UseStatus {
        _ = try use(task: task)
        learned[task] = UseStatus(task: task)
        return UseStatus(task: task)
    }

    func learn(_ status: UseStatus) { learned[status.task] = status }

    func drain(within bound: Duration?) -> DrainStatus {
        drains.append(bound)
        return drainStatus()
    }

    func drainEnded() -> DrainStatus { drainStatus() }

    func drainStatus() -> DrainStatus {
        DrainStatus(draining: !drains.isEmpty, finishing: drains.last.map { $0 != .zero } ?? false)
    }

    func fleet() -> FleetStatus { members }

    func setDrained(
        _ isDrained: Bool,
        fleetHost name: String
    ) throws(OperatorRefusal) -> FleetDrain {
        guard let index = members.hosts.firstIndex(where: { $0.name == name }) else {
            throw .noSuchHost(name, among: members.hosts.map(\.name))
        }
        let isChanged = (members.hosts[index].drainedAt != nil) != isDrained
        if isChanged {
            members.hosts[index].drainedAt = isDrained ? 1_795_262_401_000_000_000 : nil
            members.hosts[index].state = isDrained ? .drained : .live
        }
        return FleetDrain(host: members.hosts[index], isChanged: isChanged)
    }

    func pauses() -> [Pause] { paused }

    func pause(_ order: PauseOrder) throws(OperatorRefusal) -> PauseChange {
        if case .plugin(let name) = order.target { try check(name) }
        orders.append(order)
        var pause = Pause(
            target: order.target,
            since: 1_700_000_000_000_000_000,
            user: order.user,
            reason: order.reason
        )
        if case .after(let seconds) = order.end {
            pause.until = pause.since + Int64(seconds) * 1_000_000_000
            pause.isRelative = true
        }
        paused.removeAll { $0.target == order.target }
        paused.append(pause)
        return PauseChange(pause: pause, others: paused.filter { $0.target != order.target })
    }

    func resume(_ target: PauseTarget) throws(OperatorRefusal) -> PauseChange {
        guard let index = paused.firstIndex(where: { $0.target == target }) else {
            throw OperatorRefusal(.notPaused, "there is no pause of \(target.subject)")
        }
        let pause = paused.remove(at: index)
        return PauseChange(pause: pause, others: paused)
    }

    func disable(
        plugin: String,
        reason: String,
        stopsRuns: Bool
    ) throws(OperatorRefusal) -> PluginSwitch {
        try check(plugin)
        switchedOff = reason
        let live = runs(task: nil, limit: .max).filter { $0.state != .ended }.map(\.id)
        return PluginSwitch(
            plugin: plugin,
            off: reason,
            stopping: stopsRuns ? live : [],
            running: stopsRuns ? [] : live
        )
    }

    func enable(plugin: String) throws(OperatorRefusal) -> PluginSwitch {
        try check(plugin)
        switchedOff = nil
        return PluginSwitch(plugin: plugin, off: nil)
    }

    private func check(_ plugin: String) throws(OperatorRefusal) {
        guard plugin != "storm" else { return }
        throw OperatorRefusal(.noSuchPlugin, "there is no plugin `\(plugin)`", fix: "look again")
    }

    func backUp(to path: String, includesData: Bool) throws(OperatorRefusal) -> BackupReport {
        guard let backup, backup.path == path else {
            throw OperatorRefusal(.backupFailed, "\(path) exists already", fix: "name another")
        }
        return BackupReport(bytes: backup.bytes)
    }
}
