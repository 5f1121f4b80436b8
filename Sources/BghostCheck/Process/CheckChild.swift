// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc
internal import Synchronization

/// A process that performs one check, from its start until it and all its descendants are gone.
struct CheckChild {
    /// What the parent process observed.
    struct Account {
        /// The verdict of the process; `nil` if it reported none.
        var verdict: Finding??
        var plugin: CheckedPlugin?
        var phase = ""
        var fault: (signal: Int32, region: String)?
        var exit: ProcessExit?
        var isOverdue = false
        var isTooLarge = false
        /// The beginning of its output on stdout and stderr.
        var output = ""
        var milliseconds: UInt64 = 0
    }

    /// The children that a thread waits for.
    ///
    /// Any other child is an orphan of one of them.
    private static let known = Mutex<Set<Int32>>([])

    /// Runs the process.
    ///
    /// - Parameters:
    ///   - program: the path of this program.
    ///   - meeting: this process's end of the socket between two processes; it is closed here.
    static func run(
        _ order: CheckOrder,
        program: String,
        meeting: Int32? = nil,
        within milliseconds: UInt64,
        memoryBytes: UInt64
    ) throws(SystemError) -> Account {
        // Close the meeting's descriptor here: only the child then holds it open, and its end
        // closes the meeting.
        var given = [meeting].compactMap { $0 }
        defer { for fd in given { close(fd) } }
        let start = Monotonic.now
        let (spawned, report, output) = try begin(order, program, given)
        for fd in given { close(fd) }
        given = []
        var reader = Reader(
            report: ChildOutput(report, bytesMax: CheckLine.bytesMax),
            output: ChildOutput(output, bytesMax: 4096)
        )
        defer { reader.close() }
        let child = ChildProcess(spawned)
        let halt = reader.wait(
            for: child,
            within: milliseconds * 1_000_000,
            bytesMax: memoryBytes
        )
        if halt != .ended { child.kill() }
        var gone = pollfd(fd: child.pidfd, events: Int16(POLLIN), revents: 0)
        while poll(&gone, 1, 5000) < 0, errno == EINTR {}
        reader.readRest()
        var account = reader.account()
        account.exit = child.exit
        account.isOverdue = halt == .overdue
        account.isTooLarge = halt == .tooLarge
        account.milliseconds = Monotonic.now.since(start) / 1_000_000
        child.giveUp()
        // Its last thread is still removing its entries below /proc; collected meanwhile, the process would
        // make this thread spin until then, for a slice of the scheduler's on a busy processor.
        usleep(2000)
        child.collectHere()
        known.withLock { _ = $0.remove(child.pid) }
        endOrphans()
        return account
    }

    /// Starts the process, and closes its ends of the pipes here.
    ///
    /// - Returns: the ends from which its report and its output are read; the caller owns them.
    private static func begin(
        _ order: CheckOrder,
        _ program: String,
        _ given: [Int32]
    ) throws(SystemError) -> (spawned: Spawner.Spawned, report: Int32, output: Int32) {
        var (ownEnds, childEnds): ([Int32], [Int32]) = ([], [])
        defer { for fd in childEnds { close(fd) } }
        do throws(SystemError) {
            for _ in 0..<2 {
                let pipe = try Pipe.make()
                ownEnds.append(pipe.reading)
                childEnds.append(pipe.writing)
            }
            childEnds.append(try Descriptor.null())
            let (report, output, null) = (childEnds[0], childEnds[1], childEnds[2])
            let spawned = try spawn(order, program, [null, output, output, report] + given)
            return (spawned, ownEnds[0], ownEnds[1])
        } catch {
            for fd in ownEnds { close(fd) }
            throw error
        }
    }

    private static func spawn(
        _ order: CheckOrder,
        _ program: String,
        _ descriptors: [Int32]
    ) throws(SystemError) -> Spawner.Spawned {
        // Hold the lock, so that a concurrent search for orphans does not find this child.
        try known.withLock { (known) throws(SystemError) in
            let spawned = try Spawner.spawnHere(
                Spawner.Order(
                    path: program,
                    arguments: ["bghost", CheckProcess.word, String(getpid()), order.text],
                    // The environment of a worker.
                    environment: [
                        "LANG=C.UTF-8", "MALLOC_ARENA_MAX=2", "SWIFT_BACKTRACE=enable=no",
                    ],
                    descriptors: descriptors
                )
            )
            known.insert(spawned.pid)
            return spawned
        }
    }

    /// Kills processes that left their check's process group and became children of this process.
    ///
    /// Killed processes take a moment to end, and their own children then follow.
    private static func endOrphans() {
        for _ in 0..<200 {
            let isClean = known.withLock { known in
                let orphans = childPIDs(of: getpid()).filter { !known.contains($0) }
                for orphan in orphans {
                    kill(orphan, SIGKILL)
                    waitpid(orphan, nil, WNOHANG)
                }
                return orphans.isEmpty
            }
            if isClean { return }
            usleep(2000)
        }
    }
}

/// Reads the output of a checking process.
private struct Reader {
    var report: ChildOutput
    var output: ChildOutput

    /// Why reading ended.
    enum Halt { case ended, overdue, tooLarge }

    /// Reads until the process has ended, has exceeded its time, or uses too much memory.
    ///
    /// The time is served time in nanoseconds, as it is for the waits of the process itself.
    ///
    /// The limit applies to resident memory: sanitizers reserve more address space than the machine
    /// has.
    mutating func wait(
        for child: ChildProcess,
        within limit: UInt64,
        bytesMax: UInt64
    ) -> Halt {
        let time = ServedTime(ofNew: child.pid)
        while true {
            let rest = time.rest(of: limit)
            guard rest > 0 else { return .overdue }
            if let bytes = child.sampleMemory(), bytes > bytesMax { return .tooLarge }
            var wanted = [
                pollfd(fd: child.pidfd, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: report.isAtEnd ? -1 : report.descriptor,
                    events: Int16(POLLIN),
                    revents: 0
                ),
                pollfd(
                    fd: output.isAtEnd ? -1 : output.descriptor,
                    events: Int16(POLLIN),
                    revents: 0
                ),
            ]
            // If it was interrupted or timed out, the loop checks everything again.
            _ = poll(&wanted, 3, Int32(clamping: min(50, rest / 1_000_000 + 1)))
            if wanted[1].revents != 0 { report.read() }
            if wanted[2].revents != 0 { output.read() }
            if wanted[0].revents != 0 { return .ended }
        }
    }

    /// Reads the rest of the pipes after the process has ended, without waiting for its own
    /// children.
    mutating func readRest() {
        report.read()
        output.read()
    }

    func account() -> CheckChild.Account {
        var account = CheckChild.Account()
        for line in report.bytes.split(separator: 10) {
            switch CheckLine(line) {
            case .phase(let text): account.phase = text
            case .fault(let signal, let region): account.fault = (signal, region)
            case .plugin(let plugin): account.plugin = plugin
            case .verdict(let finding): account.verdict = .some(finding)
            case nil: break
            }
        }
        account.output = String(decoding: output.bytes, as: UTF8.self)
        return account
    }

    func close() {
        report.close()
        output.close()
    }
}
