// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostControl
internal import BghostLinux
internal import Glibc
internal import UnixSignals

/// `bghost plugin run --watch`: builds, checks and runs a handler again whenever its author changes something.
///
/// Each run is the same command without `--watch`, in a process of its own. One thread does all: it starts the
/// processes, which end with it, and waits for them, for changes and for signals.
final class PluginWatch {
    struct Order: Sendable {
        /// The plugin's file or folder.
        var file: String
        /// A command of the shell that builds it; `nil` for the command of its folder's build tool, or no build
        /// if a file is named or the folder has no such tool.
        var build: String?
        /// The words of `bghost plugin check`; `nil` to leave the check out.
        var check: [String]?
        /// The words of the command that runs the handler.
        var run: [String]
    }

    /// Why a wait ended.
    private enum Event {
        case changed(String)
        case ended(Int32)
        case signal(Int32)
    }

    /// Builds that may follow each other without a pause, because each changed something that counts as a source.
    private static let restlessBuildsMax = 3
    /// How long nothing must change before a build, milliseconds: editors and version control write in steps.
    private static let pause: Int32 = 200

    private let order: Order
    /// The command that builds the plugin; `nil` if its author builds it elsewhere.
    private let build: String?
    private let folder: String
    private let console: Console
    /// Readable once a signal came; its byte is the signal.
    private let signals: Int32
    private var tree: TreeWatch?
    private var library: FileWatch?
    private var libraryPath = ""
    /// Builds in a row that ended with a change of their own making.
    private var restlessBuilds = 0

    /// The words of the command for one run: those of `plugin run --watch` without what only this loop reads.
    static func runWords(of words: [String]) -> [String] {
        var kept: [String] = []
        var isValue = false
        for (index, word) in words.enumerated() {
            if isValue {
                isValue = false
            } else if word == "--" {
                return kept + words[index...]
            } else if word == "--build" {
                isValue = true
            } else if word != "--watch", word != "--check", !word.hasPrefix("--build=") {
                kept.append(word)
            }
        }
        return kept
    }

    /// Watches until a signal comes, and returns the exit status.
    static func run(_ order: Order, _ console: Console) async throws -> Int32 {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let pipe = try Pipe.make()
        let relay = Task {
            for await signal in signals {
                var byte = UInt8(truncatingIfNeeded: signal.rawValue)
                // A full pipe holds signals enough.
                _ = write(pipe.writing, &byte, 1)
            }
        }
        defer { relay.cancel() }
        let thread = WorkThread()
        defer { thread.end() }
        let result: Result<Int32, any Error> = await withCheckedContinuation { continuation in
            thread.perform {
                continuation.resume(
                    returning: Result {
                        try PluginWatch(order, signals: pipe.reading, console).loop()
                    }
                )
            }
        }
        return try result.get()
    }

    private init(_ order: Order, signals: Int32, _ console: Console) throws {
        self.order = order
        self.signals = signals
        self.console = console
        let path = ControlLocation.normalized(order.file)
        build = order.build ?? BuildCommand.find(in: path)
        guard build != nil else {
            folder = path
            libraryPath = try PluginPath.find(order.file)
            library = try FileWatch()
            library?.watch([libraryPath], for: order.file)
            return
        }
        // What is not there is an error below, or a library that the build makes.
        let facts = try? FileFacts(of: path, followsLinks: true)
        if facts == nil, !path.hasSuffix(".so") { _ = try PluginPath.find(order.file) }
        folder = facts?.kind == .folder ? path : ControlLocation.normalized(".")
        tree = try TreeWatch(folder, isWatched: SourceFiles.have)
        if tree?.isIncomplete == true {
            console.remark(
                "\(TerminalText.escaped(folder)) has more folders than are watched, \(TreeWatch.foldersMax); "
                    + "changes in the others are not seen"
            )
        }
    }

    // MARK: The loop

    private func loop() throws -> Int32 {
        while true {
            if let signal = try oneRun() { return ExitStatus.signal(signal) }
            console.remark("waiting for a change; Ctrl-C ends")
            switch wait(for: nil) {
            case .signal(let signal): return ExitStatus.signal(signal)
            case .changed(let path): again(path)
            case .ended: break
            }
        }
    }

    private func again(_ path: String) {
        let name = path.isEmpty ? "something" : TerminalText.escaped(path)
        console.remark("\n\(name) changed")
    }

    /// Builds, checks and runs once, from the start whenever something changes meanwhile.
    ///
    /// - Returns: the signal that ended it; `nil` if it came to its end.
    private func oneRun() throws -> Int32? {
        while true {
            if let build {
                console.remark("$ \(TerminalText.escaped(build))")
                // What was changed until now is built now.
                _ = changed()
                switch finish(try start(shell: build)) {
                case .signal(let signal): return signal
                case .ended(let status) where status != 0:
                    console.remark("the build failed (\(Self.text(of: status)))")
                    return nil
                default: break
                }
                if let path = changed(), !isRestless(path) {
                    again(path)
                    continue
                }
            }
            switch try checkAndRun() {
            case .signal(let signal): return signal
            case .changed(let path): again(path)
            case .ended: return nil
            }
        }
    }

    /// Whether the build itself seems to have changed the file, which it would do for ever.
    private func isRestless(_ path: String) -> Bool {
        restlessBuilds += 1
        guard restlessBuilds >= Self.restlessBuildsMax else { return false }
        if restlessBuilds == Self.restlessBuildsMax {
            console.remark(
                "the build seems to change \(TerminalText.escaped(path)) itself; what changes during a build "
                    + "does not count from now on"
            )
        }
        return true
    }

    private func checkAndRun() throws -> Event {
        if let words = order.check {
            let checked = stop(on: try start(bghost: words))
            guard case .ended(0) = checked else {
                if case .ended = checked {
                    console.remark("the plugin does not pass its checks, so it is not run")
                }
                return checked
            }
        }
        return stop(on: try start(bghost: order.run))
    }

    // MARK: Processes

    private func start(shell command: String) throws -> ChildProcess {
        // Its output is no result of the run.
        try start(
            ["/bin/sh", "-c", "cd \"$1\" && eval \"$2\"", "sh", folder, command],
            output: 2
        )
    }

    private func start(bghost words: [String]) throws -> ChildProcess {
        try start(["/proc/self/exe"] + words, output: 1)
    }

    private func start(_ words: [String], output: Int32) throws -> ChildProcess {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard null >= 0 else { throw SystemError("open", "/dev/null", code: errno) }
        defer { close(null) }
        let spawned = try Spawner.spawnHere(
            Spawner.Order(
                path: words[0],
                arguments: words,
                environment: OwnProcess.environment,
                descriptors: [null, output, 2]
            )
        )
        return ChildProcess(spawned)
    }

    /// Waits for a build; a change does not stop it, since half a library would be left.
    private func finish(_ child: ChildProcess) -> Event {
        let event = wait(for: child, untilChange: false)
        // The tools of a build remove what they have half written.
        if case .signal = event { stop(child, -child.pid) }
        return event
    }

    /// Waits for a run or a check; when something changes, it is asked to stop, and has its grace.
    private func stop(on child: ChildProcess) -> Event {
        let event = wait(for: child)
        if case .ended = event { return event }
        stop(child, child.pid)
        return event
    }

    /// Stops a child as Ctrl-C does, and each further signal once more.
    ///
    /// At its second Ctrl-C a run is killed by its own command, which then removes its folder.
    private func stop(_ child: ChildProcess, _ target: pid_t) {
        kill(target, SIGINT)
        while case .signal = wait(for: child, untilChange: false) { kill(target, SIGINT) }
    }

    // MARK: Waiting

    /// Waits until a child has ended and was reaped, something has changed, or a signal came.
    private func wait(for child: ChildProcess?, untilChange: Bool = true) -> Event {
        while true {
            var all = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
            if let child { all.append(pollfd(fd: child.pidfd, events: Int16(POLLIN), revents: 0)) }
            if untilChange { all.append(pollfd(fd: watched, events: Int16(POLLIN), revents: 0)) }
            guard poll(&all, nfds_t(all.count), -1) > 0 else { continue }
            if all[0].revents != 0 {
                var byte: UInt8 = 0
                if read(signals, &byte, 1) == 1 { return .signal(Int32(byte)) }
            }
            if let child, all[1].revents != 0 {
                let exit = child.exit
                child.giveUp()
                child.collectHere()
                return .ended(exit.map { $0.exited ? $0.code : 128 + $0.code } ?? 1)
            }
            if untilChange, all.last?.revents != 0, let path = changed() {
                settle()
                if restlessBuilds < Self.restlessBuildsMax { restlessBuilds = 0 }
                return .changed(path)
            }
        }
    }

    private var watched: Int32 { tree?.descriptor ?? library?.descriptor ?? -1 }

    /// Waits until nothing has changed for a while.
    private func settle() {
        var one = pollfd(fd: watched, events: Int16(POLLIN), revents: 0)
        // Which file changed last is of no interest: the build reads all of them.
        while poll(&one, 1, Self.pause) > 0 { _ = changed() }
    }

    /// The first file that changed since the last call; `nil` if none did.
    private func changed() -> String? {
        if let tree { return tree.changes().first }
        guard let library else { return nil }
        let changes = library.changes()
        let names = changes.owners.union(changes.needsSweep ? library.sweep() : [])
        // A file that appeared may lie in a folder that did too.
        if !names.isEmpty { library.watchAgain(order.file) }
        return names.first
    }

    private static func text(of status: Int32) -> String {
        status > 128 ? "signal \(status - 128)" : "exit \(status)"
    }
}
