// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UnixSignals

/// Watches the daemon's runs until the end of the story, and gives the cues.
final class Watch: Sendable {
    /// The result of the watch.
    enum End: Sendable {
        /// All expected runs have ended, or no run was in progress for a while.
        case told([RunEntry], next: [String])
        /// The daemon must be killed, started again, and watched once more.
        case killed
        /// A cue failed.
        case failed(String)
        case timedOut
        case interrupted(Int32)

        var isKill: Bool {
            if case .killed = self { true } else { false }
        }
    }

    struct Limits: Sendable {
        /// The maximum duration of the play.
        var total = Duration.seconds(60)
        /// The maximum time without a run while a run is still expected.
        var quiet = Duration.seconds(5)
        /// The interval of queries: the daemon reports no event for the end of a run.
        var interval = Duration.milliseconds(200)
    }

    /// The last result of a query.
    private enum Sight: Sendable {
        case none(String)
        case runs([RunEntry])
    }

    private let story: Story
    private let client: DaemonClient
    private let limits: Limits
    private let recorder: Recorder
    private let mishaps: Mishaps
    /// Called with the texts of the player's actions.
    private let say: @Sendable (String) -> Void
    private let last = Mutex(Sight.none("bghost runs has not been asked"))
    private let cues: Mutex<[Cue]>

    init(
        story: Story,
        cues: [Cue],
        client: DaemonClient,
        limits: Limits,
        recorder: Recorder,
        mishaps: Mishaps,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.story = story
        self.cues = Mutex(cues)
        self.client = client
        self.limits = limits
        self.recorder = recorder
        self.mishaps = mishaps
        self.say = say
    }

    /// What it waits for, for an error message.
    var state: String {
        switch last.withLock({ $0 }) {
        case .none(let reason):
            return "the daemon is not ready: \(reason)"
        case .runs(let runs):
            let open = runs.filter { !$0.hasEnded }.map { "\($0.task) is \($0.state)" }
            return open.isEmpty ? "expected runs have not begun" : open.joined(separator: ", ")
        }
    }

    /// The texts of the cues that were not given.
    var cuesLeft: [String] { cues.withLock { $0.map(\.text) } }

    /// - Parameter signals: the first signal ends the watch.
    func run(until signals: UnixSignalsSequence) async -> End {
        await withTaskGroup(of: End?.self) { group in
            group.addTask { [self] in await follow() }
            group.addTask { [limits] in
                // The error is the cancellation by another task of the group, whose result counts.
                try? await Task.sleep(for: limits.total)
                return .timedOut
            }
            group.addTask {
                for await signal in signals {
                    return .interrupted(signal.rawValue)
                }
                return nil
            }
            defer { group.cancelAll() }
            while let end = await group.next() {
                if let end { return end }
            }
            return .timedOut
        }
    }

    private func follow() async -> End? {
        var quietSince: ContinuousClock.Instant?
        while !Task.isCancelled {
            do throws(DaemonClient.Failure) {
                let runs = try await client.runs()
                last.withLock { $0 = .runs(runs) }
            } catch {
                // A query that was cancelled has no result.
                if Task.isCancelled { return nil }
                last.withLock { $0 = .none("\(error)") }
            }
            do {
                if case .runs(let runs) = last.withLock({ $0 }) {
                    if let end = try await go(on: runs, &quietSince) { return end }
                }
            } catch {
                return Task.isCancelled ? nil : .failed("\(error)")
            }
            // The error is the cancellation, which the loop sees.
            try? await Task.sleep(for: limits.interval)
        }
        return nil
    }

    private func go(
        on runs: [RunEntry],
        _ quietSince: inout ContinuousClock.Instant?
    ) async throws -> End? {
        if let cue = try await give(runs) {
            if cue.kills { return .killed }
            quietSince = nil
        }
        switch story.progress(of: runs) {
        case .complete: break
        case .active:
            quietSince = nil
            return nil
        case .quiet:
            let since = quietSince ?? .now
            quietSince = since
            guard since.duration(to: .now) > limits.quiet else { return nil }
        }
        return .told(runs, next: try await client.pending(of: story.daily))
    }

    /// Gives the first cue that is due.
    private func give(_ runs: [RunEntry]) async throws -> Cue? {
        let scene = Cue.Scene(runs: runs, record: recorder.record, mishaps: mishaps)
        let due = cues.withLock { cues in
            cues.firstIndex { $0.isDue(scene) }.map { cues.remove(at: $0) }
        }
        guard let due else { return nil }
        say(due.text)
        try await due.give(scene, client)
        return due
    }
}
