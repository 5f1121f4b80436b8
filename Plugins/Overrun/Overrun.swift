// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks

/// Does what no handler should: it is asked to stop and goes on, until the host kills it.
let plugin = Plugin(
    id: "org.bghost.sample.overrun",
    version: "1.0.0",
    vendor: "bghost samples"
) {
    Handler("overrun.ignore-cancel") { context -> Void in
        await withTaskCancellationHandler {
            var rounds = 0
            while true {
                rounds += 1
                context.progress(rounds, of: 0, "overrunning")
                await pause(for: .milliseconds(200))
            }
        } onCancel: {
            let reason = context.stopReason.map { "\($0)" } ?? "no reason"
            context.log(.warning, "asked to stop (\(reason)), with \(context.grace) left; going on")
        }
    }
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

/// Sleeps without being cancelled: a detached task is not a child of the run's.
private func pause(for time: Duration) async {
    // Nothing cancels the task, so that it sleeps to the end.
    _ = await Task.detached { try? await Task.sleep(for: time) }.value
}
