// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SystemPackage

/// The real daemon, run as a child process.
struct Daemon: Sendable {
    var executable: String
    var config: String
    var stateDirectory: String
    /// How long it may drain after SIGTERM before it is killed.
    var drainMax: Duration
    var log: DaemonLog

    /// What became of it.
    ///
    /// `value` is `nil` if it ended before the work was done.
    struct Ending<Value: Sendable>: Sendable {
        var end: DaemonEnd
        var value: Value?
    }

    /// Runs the daemon while `work` goes on, and then asks it to stop.
    ///
    /// - Parameter kills: whether it gets SIGKILL instead, for what the work has come to.
    /// - Throws: if it cannot be started.
    func run<Value: Sendable>(
        killedIf kills: @escaping @Sendable (Value) -> Bool = { _ in false },
        during work: @escaping @Sendable () async -> Value
    ) async throws -> Ending<Value> {
        var options = PlatformOptions()
        // Ctrl-C reaches the player only, which then stops the daemon in order.
        options.processGroupID = 0
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: drainMax)]
        let result = try await Subprocess.run(
            .path(FilePath(executable)),
            arguments: [
                "--config", config, "--state-dir", stateDirectory, "--log-format", "text",
            ],
            platformOptions: options,
            input: .none,
            output: .sequence,
            error: .combinedWithOutput
        ) { execution in
            await withTaskGroup(of: Step<Value>.self) { group in
                group.addTask {
                    // An error here is the end of the pipe in other words.
                    _ = try? await show(execution.standardOutput)
                    return .silent
                }
                group.addTask { .done(await work()) }

                guard case .done(let value) = await group.next() else {
                    group.cancelAll()
                    // Silence is the end of the process, or nearly: it gets a moment to follow.
                    await execution.teardown(
                        using: [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))])
                    return Value?.none
                }
                // Reading goes on meanwhile, so the daemon can say how it drains. Without a step there is
                // the last one, SIGKILL.
                await execution.teardown(
                    using: kills(value)
                        ? [] : [.gracefulShutDown(allowedDurationToNextStep: drainMax)]
                )
                await group.waitForAll()
                return value
            }
        }
        return Ending(end: DaemonEnd(result.terminationStatus), value: result.closureResult)
    }

    private enum Step<Value: Sendable>: Sendable {
        case silent
        case done(Value)
    }

    private func show(_ output: SubprocessOutputSequence) async throws {
        defer { log.finish() }
        for try await buffer in output {
            buffer.withUnsafeBytes { log.feed($0) }
        }
    }
}
