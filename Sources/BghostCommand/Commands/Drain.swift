// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl
internal import BghostTerminal
internal import Glibc

struct Drain: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Stop the daemon after its runs have ended.",
        discussion: """
            It starts no more runs and takes no more requests. With --finish, runs end by themselves; \
            those that are left after --within are cancelled and have their grace. Without it, all \
            are cancelled now, as by SIGTERM. Pending requests stay for the next daemon. A second \
            drain can only shorten the time. Ctrl-C ends this command and not the drain.

            Exits 0 when the daemon has stopped and every run has ended by itself, and 1 if runs were \
            cancelled. Under systemd, the unit is then inactive, and `systemctl start` starts it.
            """
    )

    @Flag(help: "Let runs end by themselves.")
    var finish = false

    @Option(
        help: ArgumentHelp(
            "With --finish: cancel the runs that are left after this time, such as 5m.",
            valueName: "duration"
        ),
        transform: Self.seconds(from:)
    )
    var within: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    /// The pause between two questions.
    private static let pause = Duration.milliseconds(200)

    func validate() throws {
        guard finish || within == nil else {
            throw ValidationError("--within needs --finish")
        }
    }

    func run() async throws {
        let console = output.console
        let pid = try await ask { client, _ in try await client.version().value.pid }
        var status = try await withThrowingTaskGroup(of: DrainStatus?.self) { group in
            group.addTask {
                try await ask { client, _ in
                    try await client.drain(finishes: finish, within: within).value
                }
            }
            group.addTask {
                try await showProgress(console)
                return nil
            }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let end { return end }
            }
            return DrainStatus(draining: true)
        }
        // A question to a daemon that has gone would start the next one, where systemd holds the socket.
        while Self.isAlive(pid) { try await Task.sleep(for: Self.pause) }
        (status.running, status.finishing, status.until) = (0, false, nil)
        if output.json {
            console.answer(json: APICoder.text(Schema.drain, status))
        } else {
            console.answer("bghost has stopped\(DrainProgress.cancelled(status))\n")
        }
        guard status.cancelled == 0 else { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    /// Shows how many runs are left, until the task is cancelled or the daemon answers no more.
    private func showProgress(_ console: Console) async throws {
        var progress = DrainProgress(isTerminal: isatty(2) == 1)
        defer { console.prompt(progress.end) }
        while !Task.isCancelled {
            do {
                let status = try await ask { client, _ in try await client.drainStatus().value }
                if status.draining { console.prompt(progress.text(status, now: unixNow())) }
                try await Task.sleep(for: Self.pause)
            } catch is CancellationError {
                return
            } catch let fault as ControlFault where Self.isEnd(fault) {
                return
            }
        }
    }

    /// Whether a process is there; that of another user counts too.
    private static func isAlive(_ pid: Int32?) -> Bool {
        guard let pid, pid > 0 else { return true }
        guard kill(pid, 0) == 0 || errno != ESRCH else { return false }
        // One that has ended stays until its parent collects it: `Z` behind the name in parentheses.
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &buffer, buffer.count)
        let bytes = buffer.prefix(max(0, count))
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")), end + 2 < bytes.endIndex else {
            return count > 0
        }
        return ![UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(bytes[end + 2])
    }

    /// Whether the daemon has gone.
    private static func isEnd(_ fault: ControlFault) -> Bool {
        [.notRunning, .connectionLost, .stopping].contains(fault.code)
    }

    private static func seconds(from text: String) throws -> Int {
        let length = HumanText.duration(from: text)
        guard let length, length <= .seconds(ControlLimits.drainSecondsMax) else {
            throw ValidationError(
                "'\(TerminalText.escaped(text))' is no duration of at most 30d such as 30s or 5m"
            )
        }
        // A part of a second counts as a whole one.
        return Int((length + .milliseconds(999)).components.seconds)
    }
}

/// The progress of a drain on stderr: in one line on a terminal, otherwise a line for each change.
struct DrainProgress {
    let isTerminal: Bool
    private var last: String?

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// What to write now; "" if nothing has changed.
    ///
    /// - Parameter now: Unix nanoseconds.
    mutating func text(_ status: DrainStatus, now: Int64) -> String {
        let runs = "\(status.running) \(status.running == 1 ? "run" : "runs") in progress"
        var line = status.finishing ? runs : "\(runs), stopping"
        if isTerminal, let until = status.until {
            line += ", cancelled \(HumanText.time(until, now: now))"
        }
        guard line != last else { return "" }
        last = line
        return isTerminal ? "\r\(line)\u{1B}[K" : "\(line)\n"
    }

    /// Clears the line of a terminal.
    var end: String { isTerminal && last != nil ? "\r\u{1B}[K" : "" }

    /// The runs that did not end by themselves, as the rest of a sentence.
    static func cancelled(_ status: DrainStatus) -> String {
        switch status.cancelled {
        case 0: ""
        case 1: "; 1 run was cancelled"
        default: "; \(status.cancelled) runs were cancelled"
        }
    }
}
