// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UnixSignals

/// Follows the daemon's runs to the end of the story.
final class Watch: Sendable {
    /// Why the watch is over.
    enum End: Sendable {
        /// Everything expected has ended, or nothing has gone on for a while.
        case told([RunEntry])
        case timedOut
        case interrupted(Int32)
    }

    struct Limits: Sendable {
        /// The whole play.
        var total = Duration.seconds(60)
        /// How long nothing may run while something is still expected.
        var quiet = Duration.seconds(5)
        /// Between two looks: the daemon offers no event for the end of a run.
        var interval = Duration.milliseconds(200)
    }

    private let story: Story
    private let client: DaemonClient
    private let limits: Limits
    private let last = Mutex(DaemonClient.Answer.none("has not been asked"))

    init(story: Story, client: DaemonClient, limits: Limits) {
        self.story = story
        self.client = client
        self.limits = limits
    }

    /// The runs that were seen last.
    var runs: [RunEntry] {
        last.withLock { if case .runs(let runs) = $0 { runs } else { [] } }
    }

    /// What it waits for, for a message that says that it was in vain.
    var state: String {
        switch last.withLock({ $0 }) {
        case .none(let reason):
            return "the daemon is not ready: bghost runs \(reason)"
        case .runs(let runs):
            let open = runs.filter { !$0.hasEnded }.map { "\($0.task) is \($0.state)" }
            return open.isEmpty ? "expected runs have not begun" : open.joined(separator: ", ")
        }
    }

    /// - Parameter signals: the first one ends the watch.
    func run(until signals: UnixSignalsSequence) async -> End {
        await withTaskGroup(of: End?.self) { group in
            group.addTask { [self] in await follow() }
            group.addTask { [limits] in
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
            let answer = await client.runs()
            // A look that was cut short says nothing about the daemon.
            if Task.isCancelled { return nil }
            last.withLock { $0 = answer }
            if case .runs(let runs) = answer {
                switch story.progress(of: runs) {
                case .complete:
                    return .told(runs)
                case .active:
                    quietSince = nil
                case .quiet:
                    let since = quietSince ?? .now
                    if since.duration(to: .now) > limits.quiet { return .told(runs) }
                    quietSince = since
                }
            }
            try? await Task.sleep(for: limits.interval)
        }
        return nil
    }
}
