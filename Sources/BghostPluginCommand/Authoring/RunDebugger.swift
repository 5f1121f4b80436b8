// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostHost
internal import BghostLinux
internal import BghostPlugin
internal import Glibc
internal import Synchronization

/// The debugger of `bghost plugin run --debug`.
///
/// It is a child in the process group of this command, so that it has the terminal and its signals. It is
/// attached to a worker that has loaded the plugin and has no run: the run is handed over while the
/// debugger holds the worker, and begins when its user continues.
final class RunDebugger: Sendable {
    /// How long the worker has to load the plugin, seconds; the host itself gives up after 10.
    private static let loadSeconds: UInt64 = 30

    /// The debugger and its own options, as the shell reads them.
    private let command: String
    private let thread = WorkThread()
    private let state = Mutex(State.waiting)

    private enum State {
        case waiting
        case running
        case ended(Int32)
    }

    /// Whether it has been started and has not ended.
    var isRunning: Bool {
        state.withLock { state in
            if case .running = state { true } else { false }
        }
    }

    // MARK: Which one

    /// - Parameters:
    ///   - command: what the author typed; `nil` looks for gdb and lldb, the latter first for Swift.
    ///   - library: the plugin's file.
    init(_ command: String?, for library: String) throws(CommandFailure) {
        if let command {
            self.command = command
            return
        }
        // A file that cannot be read is refused when it is loaded.
        let runtime = (try? PluginImage.inspect(path: library))?.note?.runtime
        let names = runtime == "swift" ? ["lldb", "gdb"] : ["gdb", "lldb"]
        guard let name = names.first(where: Self.works) else {
            throw CommandFailure(
                .inputMissing,
                "there is no debugger: neither gdb nor lldb can be run",
                fix: "install one, for instance with: apt install gdb"
            )
        }
        self.command = name
    }

    /// Whether the program can be run at all: an lldb without its Python library cannot.
    private static func works(_ name: String) -> Bool {
        run(["/bin/sh", "-c", "exec \(name) --version >/dev/null 2>&1"]) == 0
    }

    /// The words that start it on a process.
    private func words(for worker: Int32) -> [String] {
        let program = command.split(separator: " ").first?.split(separator: "/").last
        // The worker has a file system of its own, without the folders in which debug information lies.
        let own = program == "gdb" ? ["-iex", "set sysroot /"] : []
        return ["/bin/sh", "-c", "exec \(command) \"$@\"", "sh"] + own + ["-p", "\(worker)"]
    }

    // MARK: Start and end

    /// Starts it on the plugin's worker, and waits until it is attached.
    func attach(to plugin: String, _ host: Host, _ screen: RunScreen) async throws {
        let worker = try await worker(of: plugin, host, screen)
        screen.remark(
            "process \(worker) has loaded the plugin; set breakpoints and continue: the run begins then"
        )
        state.withLock { $0 = .running }
        thread.perform { [self] in
            let status = Self.run(words(for: worker))
            state.withLock { $0 = .ended(status) }
        }
        // The kernel has no event for this, so it is polled.
        while ProcessStatus(pid: worker).map({ $0.tracer == 0 }) ?? true {
            if case .ended(let status) = state.withLock({ $0 }) {
                // A script may attach, do its work and detach between two looks.
                if status == 0 { return }
                throw CommandFailure(
                    .failure,
                    "the debugger ended with \(status) before it was attached: "
                        + TerminalText.escaped(command),
                    fix: "another debugger can be named: --debugger gdb"
                )
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Waits until its user has left it.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            thread.perform { continuation.resume() }
        }
        thread.end()
    }

    /// The process that has loaded the plugin.
    private func worker(
        of plugin: String,
        _ host: Host,
        _ screen: RunScreen
    ) async throws -> Int32 {
        let due = Monotonic.now + Self.loadSeconds * 1_000_000_000
        while true {
            let status = await host.status().plugins.first { $0.name == plugin }
            if screen.hasReadyWorker, let worker = status?.workers.first { return worker }
            if let problem = status?.problem {
                throw CommandFailure(.failure, TerminalText.escaped(problem))
            }
            guard Monotonic.now < due else {
                throw CommandFailure(
                    .failure,
                    "the worker did not load the plugin within \(Self.loadSeconds) s"
                )
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Runs a program with this command's terminal, and returns its exit status; on a thread that may wait.
    private static func run(_ words: [String]) -> Int32 {
        do throws(SystemError) {
            let child = ChildProcess(
                try Spawner.spawnHere(
                    Spawner.Order(
                        path: words[0],
                        arguments: words,
                        environment: OwnProcess.environment,
                        descriptors: [0, 1, 2],
                        keepsGroup: true
                    )
                )
            )
            var end = pollfd(fd: child.pidfd, events: Int16(POLLIN), revents: 0)
            // A signal ends the wait early; `exit` decides.
            while child.exit == nil { _ = poll(&end, 1, -1) }
            let exit = child.exit
            child.collectHere()
            return exit.map { $0.exited ? $0.code : 128 + $0.code } ?? 1
        } catch {
            return 127
        }
    }
}
