// SPDX-License-Identifier: Apache-2.0

internal import BghostPluginCommand
internal import BghostBase
internal import ArgumentParser

/// The command tree.
///
/// No name has a hyphen, which would break bash completion.
struct Root: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bghost",
        abstract: "Run background tasks as plugins, under enforced limits.",
        usage: "bghost [run] --config <file> [<options>]\n       bghost <subcommand> [<options>]",
        // The options belong to the default command `run`, so the parser would not list them here.
        discussion: """
            Without a subcommand bghost runs the daemon in the foreground; Ctrl-C drains it:
              -c, --config <file>     The manifest (default: tasks.json).
              --state-dir <dir>       Where state is kept.
              --control <path>        The control socket.
              --slots <n>             Run at most this many runs at once.
              --plugin-path <dir>     Where to look for plugins; may be repeated.
              --log-format <format>   auto, json or text.
              --log-level <level>     trace, debug, info, warning, error or fault.

            'bghost help run' says more. 'bghost help BG2101' explains an error code.
            """,
        version: "bghost \(BghostVersion.text)",
        subcommands: [
            Run.self, Check.self, Doctor.self, Health.self, Metrics.self, Wait.self, Status.self,
            Why.self,
            Trigger.self, Expire.self,
            Stop.self,
            Submit.self,
            Pending.self, Cancel.self, Runs.self, Show.self, Logs.self, Dead.self, Redrive.self,
            Discard.self, CheckpointCommand.self, Throttle.self, Uses.self, Drain.self,
            PauseTasks.self, ResumeTasks.self,
            Disable.self, Enable.self, Backup.self, Restore.self, Audit.self,
            Changes.self, Alerts.self, FleetCommand.self,
            Plugin.self, SDK.self,
            DashboardLink.self, Plan.self, Reload.self, Replay.self, Simulate.self, Notify.self,
            Transfers.self,
            Version.self, Completion.self,
        ],
        defaultSubcommand: Run.self
    )
}
