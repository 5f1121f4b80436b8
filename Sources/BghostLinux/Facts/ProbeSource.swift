// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel
internal import Glibc
internal import Synchronization

/// A requirement that a program of the operator determines.
///
/// The spawner starts the program and the reactor watches its descriptors, so no thread waits for
/// it. The spawner also records it as its child, and so does not kill it as an orphan of a worker.
final class ProbeSource: FactSource {
    let requirements: RequirementSet
    private let definition: ProbeDefinition
    private let spawner: Spawner
    private let isStopped = Handover()
    private var context: FactSourceContext?
    private var state = State.waiting(until: .never)
    private var output: Output?
    private var begunAt: MonotonicInstant = .zero
    private let interval: UInt64

    /// The shortest interval, nanoseconds; shorter ones are raised to it.
    private static let intervalMin: UInt64 = 1_000_000_000

    private enum State {
        case waiting(until: MonotonicInstant)
        case starting(until: MonotonicInstant)
        case running(Child, until: MonotonicInstant)
        /// Killed and not yet ended; its result no longer counts.
        case ending(Child)
    }

    private struct Child {
        let process: ChildProcess
        let token: UInt64
    }

    /// The program's output.
    private struct Output {
        let fd: Int32
        let token: UInt64?
        var firstLine: [UInt8] = []
        var isLineOver = false
        var count = 0
        /// After this many bytes its output is closed, and its next write ends it.
        static let bytesMax = 64 << 10
        static let lineMax = 512
    }

    /// Whether the source has stopped.
    ///
    /// The spawner's thread checks it under the lock before it hands over a process.
    private final class Handover: Sendable {
        let isOver = Mutex(false)
    }

    /// - Parameters:
    ///   - requirement: the probe's bit.
    ///   - definition: the program, its interval and its timeout.
    init(
        _ requirement: RequirementSet,
        _ definition: ProbeDefinition,
        spawner: Spawner
    ) {
        requirements = requirement
        self.definition = definition
        interval = max(Self.intervalMin, definition.interval.clampedNanoseconds)
        self.spawner = spawner
    }

    var deadline: MonotonicInstant {
        switch state {
        case .waiting(let until), .starting(let until), .running(_, let until): until
        case .ending: .never
        }
    }

    func start(_ context: FactSourceContext, now: MonotonicInstant) {
        self.context = context
        begin(now: now)
    }

    func poll(now: MonotonicInstant) {
        // Start slightly early, together with other sources that are read now.
        if case .waiting(let until) = state, until <= now + interval / 8 {
            begin(now: now)
            return
        }
        guard now >= deadline else { return }
        switch state {
        case .waiting: break
        case .starting:
            report(.unknown, "it could not be started within \(definition.timeout)")
            state = .starting(until: end(of: now))
        case .running(let child, _):
            child.process.kill()
            state = .ending(child)
            report(.unknown, "no answer within \(definition.timeout)")
        case .ending: break
        }
    }

    func ready(_ token: UInt64, _ readiness: Readiness, now: MonotonicInstant) {
        if token == output?.token {
            readOutput()
            return
        }
        switch state {
        case .running(let child, _) where child.token == token:
            guard let exit = child.process.exit else { return }
            while readOutput() {}
            conclude(exit)
            finish(child, now: now)
        case .ending(let child) where child.token == token:
            guard child.process.exit != nil else { return }
            finish(child, now: now)
        default: break
        }
    }

    func received(_ message: FactMessage, now: MonotonicInstant) {
        guard case .spawned(let result) = message else { return }
        guard let context else {
            if case .success(let spawned) = result { Self.end(spawned, spawner) }
            closeOutput()
            return
        }
        switch result {
        case .success(let spawned):
            let process = ChildProcess(spawned)
            do throws(SystemError) {
                let token = try context.watch(process.pidfd, for: .input)
                state = .running(Child(process: process, token: token), until: deadline)
            } catch {
                process.kill()
                Self.collectLater(process, spawner)
                giveUp(error, now: now)
            }
        case .failure(let error):
            giveUp(error, now: now)
        }
    }

    private func giveUp(_ error: SystemError, now: MonotonicInstant) {
        report(.unknown, error.description)
        closeOutput()
        output = nil
        state = .waiting(until: max(now, begunAt + interval))
    }

    func stop() {
        isStopped.isOver.withLock { $0 = true }
        switch state {
        case .running(let child, _), .ending(let child):
            context?.unwatch(child.token)
            child.process.kill()
            Self.collectLater(child.process, spawner)
        case .starting, .waiting: break
        }
        closeOutput()
        state = .waiting(until: .never)
        context = nil
    }

    // MARK: One execution

    private func end(of now: MonotonicInstant) -> MonotonicInstant {
        now + max(1_000_000, definition.timeout.clampedNanoseconds)
    }

    private func begin(now: MonotonicInstant) {
        guard let context, let program = definition.arguments.first else {
            state = .waiting(until: .never)
            report(.unknown, "it names no program")
            return
        }
        begunAt = now
        let pipe: (reading: Int32, writing: Int32)
        do throws(SystemError) {
            pipe = try Pipe.make()
        } catch {
            giveUp(error, now: now)
            return
        }
        let null: Int32
        do throws(SystemError) {
            null = try Descriptor.null()
        } catch {
            close(pipe.reading)
            close(pipe.writing)
            giveUp(error, now: now)
            return
        }
        do throws(SystemError) {
            let token = try context.watch(pipe.reading, for: .input)
            output = Output(fd: pipe.reading, token: token)
        } catch {
            // Otherwise its output would fill the pipe and block the probe in a write.
            close(null)
            close(pipe.reading)
            close(pipe.writing)
            giveUp(error, now: now)
            return
        }
        state = .starting(until: end(of: now))
        let order = Spawner.Order(
            path: program,
            arguments: definition.arguments,
            environment: ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"],
            descriptors: [null, pipe.writing, null]
        )
        spawner.spawn(order) { [inbox = context.inbox, isStopped, spawner] result in
            close(null)
            close(pipe.writing)
            isStopped.isOver.withLock { isOver in
                if !isOver {
                    inbox.post(.spawned(result))
                } else if case .success(let spawned) = result {
                    Self.end(spawned, spawner)
                }
            }
        }
    }

    /// Reads once; returns whether there may be more.
    @discardableResult
    private func readOutput() -> Bool {
        guard var output else { return false }
        let (count, bytes) = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) {
            buffer -> (Int, [UInt8]) in
            let count = read(output.fd, buffer.baseAddress, buffer.count)
            return (count, Array(buffer.prefix(max(0, count))))
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return false }
            closeOutput()
            return false
        }
        output.count += count
        if !output.isLineOver {
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
            output.firstLine += line.prefix(Output.lineMax - output.firstLine.count)
            output.isLineOver = line.count < bytes.count
        }
        self.output = output
        guard output.count <= Output.bytesMax else {
            closeOutput()
            return false
        }
        return true
    }

    /// Closes the output; the text read so far is kept until the next execution.
    private func closeOutput() {
        guard let output, output.fd >= 0 else { return }
        if let token = output.token { context?.unwatch(token) }
        close(output.fd)
        var closed = Output(fd: -1, token: nil)
        closed.firstLine = output.firstLine
        closed.count = output.count
        self.output = closed
    }

    private func conclude(_ exit: ProcessExit) {
        let line = String(decoding: output?.firstLine ?? [], as: UTF8.self)
        switch (exit.exited, exit.code) {
        case (true, 0): report(.state(true), line.isEmpty ? "exit 0" : line)
        case (true, 1): report(.state(false), line.isEmpty ? "exit 1" : line)
        case (_, _) where (output?.count ?? 0) > Output.bytesMax:
            report(.unknown, "it wrote more than \(Output.bytesMax >> 10) KiB")
        case (true, let code):
            report(.unknown, line.isEmpty ? "exit \(code)" : "exit \(code): \(line)")
        case (false, let signal): report(.unknown, SignalName.text(of: signal))
        }
    }

    private func finish(_ child: Child, now: MonotonicInstant) {
        context?.unwatch(child.token)
        child.process.giveUp()
        spawner.collect(child.process.pid, adoptsOrphans: false)
        closeOutput()
        output = nil
        state = .waiting(until: max(now, begunAt + interval))
    }

    private func report(_ measure: FactMeasure, _ text: String) {
        context?.report(
            FactReading(
                requirements,
                measure,
                text: text,
                source: definition.arguments.first ?? definition.name
            )
        )
    }

    // MARK: Stopped processes

    private static func end(_ spawned: Spawner.Spawned, _ spawner: Spawner) {
        let process = ChildProcess(spawned)
        process.kill()
        collectLater(process, spawner)
    }

    /// Waits on the spawner's thread for a killed process, at most one second, and reaps it.
    private static func collectLater(_ process: ChildProcess, _ spawner: Spawner) {
        let pid = process.pid
        let fd = fcntl(process.pidfd, F_DUPFD_CLOEXEC, 0)
        spawner.perform {
            var waiting = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
            // After the second, the spawner collects it whenever it ends.
            _ = Glibc.poll(&waiting, 1, 1000)
            close(fd)
        }
        spawner.collect(pid, adoptsOrphans: false)
    }
}
