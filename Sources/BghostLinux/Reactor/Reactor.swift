// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// The events for which a descriptor is ready.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let input = Readiness(rawValue: 0x001)
    package static let output = Readiness(rawValue: 0x004)
    static let error = Readiness(rawValue: 0x008)
    static let hangup = Readiness(rawValue: 0x010)
}

/// The client that handles a reactor's events.
///
/// Every call is made on the reactor's thread.
package protocol ReactorClient: AnyObject, Sendable {
    /// A descriptor is ready.
    ///
    /// Within a turn, tokens with the top bit set come first: so the output that a process wrote to
    /// its pipe before it sent a message on its socket is also handled first.
    func ready(_ token: UInt64, _ readiness: Readiness)
    /// `Reactor.deadline` has passed.
    func deadlinePassed(now: MonotonicInstant)
    /// A CPU timer made with `Reactor.watchCPU` has fired.
    func usedCPU(_ value: Int32)
    /// All ready descriptors have been handled; the client sends its collected output now.
    func turnEnded()
}

/// One thread that waits for descriptors, timers and jobs, and is also the executor that handles
/// them.
///
/// The thread that reads a worker's reply also holds the run's state, so a reply resumes its run
/// without a second wake-up. That path has no locks: all state of the client is isolated to this
/// executor, and so confined to this thread.
package final class Reactor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: `client`, `deadline`, `local`, `batch`, `now` and `awakeSince` are touched by the reactor's thread only
    // (`client` is set before it starts and can be read on any thread); the rest is immutable or behind the mutex.

    private let epoll: Int32
    private let wakeUp: Int32
    private let inbox = Mutex(Inbox())
    private let isWaiting = Atomic<Bool>(false)
    private let isStopped = Atomic<Bool>(false)
    /// Jobs that this thread has queued.
    private var local: [UnownedJob] = []
    /// The jobs whose turn it is, and the index of the next one.
    private var batch: [UnownedJob] = []
    private var batchNext = 0
    private weak var client: (any ReactorClient)?
    private var hadClient = false

    /// The object that a job must hold while it uses a part of the client.
    ///
    /// It is the client, or `nil` if the client is gone; without a client, it is the reactor. Callable from
    /// any thread.
    package var lifetime: AnyObject? { hadClient ? client : self }
    private let thread = Atomic<pthread_t>(0)
    /// The kernel's id of the thread, once it has started.
    package private(set) var threadID: Int32 = 0
    private var cpuSignals: Int32 = -1
    private let started = ThreadGate()
    /// Why the thread ended at once; written before `started` opens.
    private var startError: SystemError?
    private let finished = ThreadGate()

    /// When the client wants the next call of `deadlinePassed`.
    ///
    /// Set it on the reactor's thread only.
    package var deadline: MonotonicInstant = .never

    /// The monotonic time at which this turn began; for the reactor's thread only.
    package private(set) var now: MonotonicInstant = Monotonic.now

    /// When the thread last ended a wait for events; for its own use only.
    package private(set) var awakeSince: MonotonicInstant = Monotonic.now

    /// Updates `now` after long work, since deadlines count from it.
    ///
    /// Call it on the reactor's thread.
    package func updateNow() { now = Monotonic.now }

    /// Jobs from other threads.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        /// Whether the loop has ended, so that the thread that enqueues a job must see that it
        /// runs.
        var isLate = false
        /// Whether a thread currently runs late jobs.
        var isServed = false
    }

    private static let wakeUpToken = UInt64.max
    private static let cpuToken = UInt64.max - 1

    package init() throws(SystemError) {
        epoll = try checked(bgs_epoll_create(), "create an epoll descriptor")
        wakeUp = try checked(bgs_eventfd(), "create an event descriptor")
        try checked(
            bgs_epoll_add(epoll, wakeUp, BGS_IN, Self.wakeUpToken),
            "watch the event descriptor"
        )
    }

    deinit {
        close(epoll)
        close(wakeUp)
    }

    /// Starts the thread, which ends after `stop`.
    ///
    /// It throws if no thread can be created; then no code that is isolated to this executor may be
    /// called.
    package func start(client: any ReactorClient) throws(SystemError) {
        self.client = client
        hadClient = true
        try addThread { $0.run() }
        started.wait()
        if let startError { throw startError }
    }

    private func addThread(_ body: @escaping (Reactor) -> Void) throws(SystemError) {
        final class Work {
            let reactor: Reactor
            let body: (Reactor) -> Void
            init(_ reactor: Reactor, _ body: @escaping (Reactor) -> Void) {
                self.reactor = reactor
                self.body = body
            }
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(self, body))
        let error = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                work.body(work.reactor)
                return nil
            },
            work.toOpaque()
        )
        guard error == 0 else {
            work.release()
            throw SystemError("start the reactor's thread", code: error)
        }
    }

    /// Ends the thread after the current turn.
    ///
    /// Callable from any thread.
    package func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        // This fails only if so many wake-ups are pending that the thread is awake anyway; the same
        // applies in `enqueue`.
        _ = bgs_eventfd_signal(wakeUp)
    }

    /// Waits until the thread has ended.
    func join() {
        finished.wait()
    }

    /// Whether this is called on the reactor's thread.
    package var isCurrent: Bool { pthread_self() == thread.load(ordering: .relaxed) }

    /// Whether this thread has real-time priority, so that deadlines hold while every processor is
    /// busy.
    ///
    /// Set it on the reactor's thread only. The kernel refuses it without CAP_SYS_NICE; the thread
    /// then keeps its normal priority.
    package var isUrgent = false {
        didSet {
            guard isUrgent != oldValue else { return }
            // The kernel refuses it without the capability, as described above.
            _ = isUrgent ? bgs_realtime(0) : bgs_not_realtime()
        }
    }

    // MARK: Descriptors, on the reactor's thread

    package func watch(_ fd: Int32, for readiness: Readiness, token: UInt64) throws(SystemError) {
        try checked(bgs_epoll_add(epoll, fd, readiness.rawValue, token), "watch a descriptor")
    }

    package func unwatch(_ fd: Int32) {
        // It fails only for a descriptor that was closed before, and the kernel no longer watches
        // that one.
        _ = bgs_epoll_remove(epoll, fd)
    }

    /// Calls the client each time a process has used another `period` nanoseconds of processor
    /// time.
    ///
    /// The timer costs nothing while the process uses none.
    package func watchCPU(ofProcess pid: Int32, every period: Int64, value: Int32) -> CPUTimer? {
        var timer: UnsafeMutableRawPointer?
        let answer = bgs_cpu_timer(
            pid,
            threadID,
            bgs_cpu_timer_signal(),
            value,
            period,
            &timer
        )
        return answer == 0 ? CPUTimer(timer) : nil
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            local.append(job)
            return
        }
        let needsThread = inbox.withLock { inbox in
            inbox.jobs.append(job)
            guard inbox.isLate, !inbox.isServed else { return false }
            inbox.isServed = true
            return true
        }
        if needsThread { serveLateJobs() }
        // This and the reactor's own store-then-check are sequentially consistent: either the
        // reactor sees the job, or this thread sees that the reactor is about to sleep.
        if isWaiting.exchange(false, ordering: .sequentiallyConsistent) {
            // This fails only if so many wake-ups are pending that the reactor wakes anyway.
            _ = bgs_eventfd_signal(wakeUp)
        }
    }

    /// Starts a thread for jobs that arrive after the end of the loop.
    private func serveLateJobs() {
        do throws(SystemError) {
            try addThread { $0.runLateJobs() }
        } catch {
            // The next job tries again, and its thread also runs this one.
            inbox.withLock { $0.isServed = false }
        }
    }

    package func checkIsolated() {
        precondition(isCurrent, "not on the reactor's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    // MARK: The loop

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        threadID = bgs_thread_id()
        bgs_timer_slack_min()
        bgs_name_thread("bghost-reactor")
        do throws(SystemError) {
            try watchCPUSignals()
        } catch {
            // Without these signals, memory and processor time limits would not be enforced.
            startError = error
            isStopped.store(true, ordering: .relaxed)
        }
        started.open()
        awakeSince = Monotonic.now
        var ready = [bgs_ready](repeating: bgs_ready(), count: 64)
        while !isStopped.load(ordering: .relaxed) {
            now = Monotonic.now
            runJobs(for: Self.jobsMax)
            client?.turnEnded()
            let count = wait(&ready)
            now = Monotonic.now
            awakeSince = now
            if count > 0 { handle(ready, count) }
            if deadline <= now {
                deadline = .never
                client?.deadlinePassed(now: now)
            }
        }
        if cpuSignals >= 0 { close(cpuSignals) }
        runLateJobs()
        finished.open()
    }

    private func watchCPUSignals() throws(SystemError) {
        cpuSignals = try checked(
            bgs_signalfd(bgs_cpu_timer_signal()),
            "open a descriptor for signals of CPU timers"
        )
        try checked(
            bgs_epoll_add(epoll, cpuSignals, BGS_IN, Self.cpuToken),
            "watch the descriptor for signals of CPU timers"
        )
    }

    /// Runs jobs that arrive after the end of the loop, so that no caller of an ended host waits
    /// for ever.
    ///
    /// The thread ends when there are no more; the next job starts another one.
    private func runLateJobs() {
        thread.store(pthread_self(), ordering: .relaxed)
        while true {
            runJobs(for: .max)
            let isOver = inbox.withLock { inbox in
                inbox.isLate = true
                inbox.isServed = !inbox.jobs.isEmpty
                if !inbox.isServed { thread.store(0, ordering: .relaxed) }
                return !inbox.isServed
            }
            if isOver { return }
        }
    }

    /// How long the jobs of one turn may take together, nanoseconds.
    ///
    /// A job that queues the next one, as a loop with `Task.yield` does, must delay no deadline.
    private static let jobsMax: UInt64 = 1_000_000

    /// Runs jobs until there are none, or until they have taken `limit` nanoseconds.
    private func runJobs(for limit: UInt64) {
        let executor = asUnownedSerialExecutor()
        let taskExecutor = asUnownedTaskExecutor()
        while true {
            if batchNext == batch.count {
                // The arrays exchange their storage, so nothing is allocated.
                batch.removeAll(keepingCapacity: true)
                batchNext = 0
                swap(&batch, &local)
                if batch.isEmpty { inbox.withLock { swap(&$0.jobs, &batch) } }
                if batch.isEmpty { return }
            }
            let job = batch[batchNext]
            batchNext += 1
            job.runSynchronously(isolatedTo: executor, taskExecutor: taskExecutor)
            // The rest of a batch waits too: a thousand clients may have asked at once.
            if limit < .max, Monotonic.now.since(now) >= limit { return }
        }
    }

    private func wait(_ ready: inout [bgs_ready]) -> Int {
        var timeout: Int64 = -1
        if deadline != .never {
            // Do not use `now`: the work of this turn may have taken long.
            let time = Monotonic.now
            timeout = Int64(clamping: deadline.since(time))
        }
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        if batchNext < batch.count || !local.isEmpty || inbox.withLock({ !$0.jobs.isEmpty }) {
            timeout = 0
        }
        let count = ready.withUnsafeMutableBufferPointer {
            bgs_epoll_wait(epoll, $0.baseAddress, Int32($0.count), timeout)
        }
        isWaiting.store(false, ordering: .sequentiallyConsistent)
        return max(0, Int(count))
    }

    private func handle(_ ready: [bgs_ready], _ count: Int) {
        for index in 0..<count where ready[index].token >> 63 == 1 {
            switch ready[index].token {
            // Another turn may have drained it.
            case Self.wakeUpToken: _ = bgs_eventfd_drain(wakeUp)
            case Self.cpuToken: handleCPUSignals()
            case let token: client?.ready(token, Readiness(rawValue: ready[index].events))
            }
        }
        for index in 0..<count where ready[index].token >> 63 == 0 {
            client?.ready(ready[index].token, Readiness(rawValue: ready[index].events))
        }
    }

    private func handleCPUSignals() {
        var values = [Int32](repeating: 0, count: 16)
        let count = bgs_signalfd_read(cpuSignals, &values, 16)
        for index in 0..<max(0, Int(count)) { client?.usedCPU(values[index]) }
    }
}

/// A timer on the processor time of another process; it is deleted with its owner.
package struct CPUTimer: ~Copyable {
    private let timer: UnsafeMutableRawPointer?

    init(_ timer: UnsafeMutableRawPointer?) {
        self.timer = timer
    }

    deinit {
        bgs_cpu_timer_delete(timer)
    }
}
