// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SystemPackage

/// The daemon as a child process.
struct Daemon: Sendable {
    var executable: String
    var config: String
    var stateDirectory: String
    /// The maximum duration of a drain after SIGTERM; then the daemon is killed.
    var drainMax: Duration
    var log: DaemonLog

    /// The end of the daemon.
    ///
    /// `value` is `nil` if the daemon ended before the work was done.
    struct Ending<Value: Sendable>: Sendable {
        var end: DaemonEnd
        var value: Value?
    }

    /// Runs the daemon during `work`, and then stops it.
    ///
    /// - Parameter kills: whether to send SIGKILL instead, depending on the result of the work.
    /// - Throws: an error if the daemon cannot be started.
    func run<Value: Sendable>(
        killedIf kills: @escaping @Sendable (Value) -> Bool = { _ in false },
        during work: @escaping @Sendable () async -> Value
    ) async throws -> Ending<Value> {
        var options = PlatformOptions()
        // Ctrl-C reaches only the player, which then stops the daemon in order.
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
                    // An error here means the end of the pipe.
                    _ = try? await show(execution.standardOutput)
                    return .silent
                }
                group.addTask { .done(await work()) }

                guard case .done(let value) = await group.next() else {
                    group.cancelAll()
                    // The end of the output means that the process has ended or is about to; give it time to
                    // exit.
                    await execution.teardown(
                        using: [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))])
                    return Value?.none
                }
                // The output is still being read, so the player sees messages of the drain. Without a step,
                // the last one applies, SIGKILL.
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
