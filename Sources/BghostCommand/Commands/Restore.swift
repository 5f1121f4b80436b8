// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostBackup
internal import BghostControl
internal import BghostManifest
internal import BghostModel
internal import BghostServices
internal import BghostTerminal
internal import Glibc

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup into the state directory of a daemon that does not run.",
        discussion: """
            The backup is copied and checked before anything changes. What is in the state directory \
            is set aside in a folder there with --replace, and an error without. Run it as the \
            daemon's user. Requests that ended after the backup was made run again; handlers \
            see their idempotency keys.
            """
    )

    @Argument(
        help: ArgumentHelp("The folder that 'bghost backup' wrote.", valueName: "folder"),
        completion: .directory
    )
    var folder: String

    @Option(
        help: ArgumentHelp("The state directory to restore into.", valueName: "dir"),
        completion: .directory
    )
    var stateDir: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The manifest that names the state directory.", valueName: "file"),
        completion: .file()
    )
    var config: String?

    @Flag(help: "Set aside what is in the state directory.")
    var replace = false

    @OptionGroup var look: LookOptions

    func run() async throws {
        let path = try statePath()
        let state: StateDirectory
        do throws(HostError) {
            state = try StateDirectory(forRestoreInto: path)
        } catch {
            throw CommandFailure(.taken, TerminalText.escaped(error.description))
        }
        let restorer = BackupRestorer(
            ControlLocation.normalized(folder),
            into: state,
            replaces: replace,
            stamp: Self.stamp()
        )
        let summary: BackupRestorer.Summary
        do throws(BackupError) {
            summary = try restorer.restore()
        } catch {
            throw CommandFailure(.failure, error.message, fix: error.fix)
        }
        let parts =
            ["the store"] + (summary.hasTransfers ? ["the transfers"] : [])
            + (summary.plugins.isEmpty
                ? [] : ["the data of " + summary.plugins.joined(separator: ", ")])
        look.console.answer(
            TerminalText.escaped(
                "restored \(parts.joined(separator: ", ")): \(HumanText.bytes(summary.bytes)) in "
                    + path
            ) + "\n"
        )
        if let aside = summary.aside {
            look.console.remark("what was there before is in \(TerminalText.escaped(aside))")
        }
    }

    private func statePath() throws -> String {
        if let stateDir { return ControlLocation.normalized(stateDir) }
        if let config {
            let reading = ManifestFiles.read(config, unresolvedSecrets: .warning)
            guard let host = reading.manifest?.host else { throw reading.failure }
            if let named = host.stateDirectory { return named }
        }
        guard let usual = ControlLocation.stateDirectory() else { throw Daemon.noStateDirectory }
        return usual
    }

    /// The time, for a name: `20261126T030000Z`.
    private static func stamp() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [UInt8](repeating: 0, count: 32)
        let count = text.withUnsafeMutableBytes { bytes in
            strftime(bytes.baseAddress, bytes.count, "%Y%m%dT%H%M%SZ", &parts)
        }
        return String(decoding: text.prefix(count), as: UTF8.self)
    }
}
