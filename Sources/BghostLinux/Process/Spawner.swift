// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// Starts and reaps processes on one thread, which outlives all of them.
///
/// A child that asks to die with its parent dies with the *thread* that started it, so no Task and
/// no pool thread may start it. posix_spawn also blocks its caller until the child has called exec,
/// and the reactor must not block.
package final class Spawner: Sendable {
    /// The process to start.
    package struct Order: Sendable {
        var path: String
        var arguments: [String]
        var environment: [String]
        /// Descriptors that become 0, 1, 2 … of the child.
        ///
        /// The caller still owns them.
        var descriptors: [Int32]
        /// Whether the child stays in this process's group, as a program must that reads the terminal.
        var keepsGroup: Bool

        package init(
            path: String,
            arguments: [String],
            environment: [String],
            descriptors: [Int32],
            keepsGroup: Bool = false
        ) {
            self.path = path
            self.arguments = arguments
            self.environment = environment
            self.descriptors = descriptors
            self.keepsGroup = keepsGroup
        }
    }

    /// A started process.
    package struct Spawned: Sendable {
        package let pid: Int32
        /// The receiver of this value owns it.
        package let pidfd: Int32
        /// The peak memory of this process when it started the child, bytes.
        ///
        /// Until the child executes its program it has this process's memory, and the kernel counts
        /// that as the child's peak. So only a peak above this value says something about the
        /// child.
        let inheritedPeakBytes: Int64
    }

    private typealias Work = @Sendable () -> Void
    private let queue = Mutex<[Work]>([])
    /// Children that have been started and not yet reaped.
    ///
    /// Used on the spawner's thread only.
    private let children = Mutex<Set<Int32>>([])
    /// Children that `spawnHere` has started, on any thread, and that are not yet reaped.
    ///
    /// Held while one is started and while orphans are searched for, which would find it otherwise.
    private static let startedElsewhere = Mutex<Set<Int32>>([])
    /// When the last child ended whose orphans are searched for; `nil` if no search is under way.
    ///
    /// Used on the spawner's thread only.
    private let searchedSince = Mutex<MonotonicInstant?>(nil)
    private let wakeUp: Int32
    private let isEnded = Atomic<Bool>(false)

    package init() throws(SystemError) {
        wakeUp = try checked(bgs_eventfd(), "create an event descriptor")
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let spawner = Unmanaged.passRetained(self)
        let error = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Spawner>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            spawner.toOpaque()
        )
        guard error == 0 else {
            // Releasing it closes its descriptor.
            spawner.release()
            throw SystemError("start the thread that starts processes", code: error)
        }
    }

    deinit {
        close(wakeUp)
    }

    /// Ends the thread after its queued work.
    ///
    /// Its remaining children die with it.
    package func end() {
        isEnded.store(true, ordering: .releasing)
        // This fails only if so many wake-ups are pending that the thread is awake anyway.
        _ = bgs_eventfd_signal(wakeUp)
    }

    /// Starts a process; calls `then` with the result on the spawner's thread.
    package func spawn(
        _ order: Order,
        then: @escaping @Sendable (Result<Spawned, SystemError>) -> Void
    ) {
        perform { [self] in
            let result = Result { () throws(SystemError) in try Self.start(order) }
            if case .success(let spawned) = result {
                children.withLock { _ = $0.insert(spawned.pid) }
            }
            then(result)
        }
    }

    /// Reaps a child that has ended.
    ///
    /// - Parameter adoptsOrphans: whether to kill children that were not started here. A process
    ///   that leaves its worker's process group becomes a child of the daemon if the daemon is a
    ///   subreaper.
    package func collect(_ pid: Int32, adoptsOrphans: Bool) {
        perform { [self] in
            // The child has ended, so this cannot fail.
            _ = bgs_collect(pid)
            children.withLock { _ = $0.remove(pid) }
            guard adoptsOrphans else { return }
            let isUnderWay = searchedSince.withLock { since in
                defer { since = Monotonic.now }
                return since != nil
            }
            if !isUnderWay { endOrphans() }
        }
    }

    /// How long orphans are searched for after the end of a child, in nanoseconds.
    private static let searchMax: UInt64 = 10_000_000_000
    /// The same after `end`, so that a daemon does not end late.
    private static let lastSearchMax: UInt64 = 100_000_000

    /// Kills and reaps children that this process has not started.
    ///
    /// The child of an orphan becomes an orphan too, and killed processes take a moment to end, on a
    /// busy machine a long one. So this looks again, after other work that is queued, for at most ten
    /// seconds; the remaining ones are found when the next worker ends.
    private func endOrphans() {
        let isClean = Self.startedElsewhere.withLock { elsewhere in
            let known = children.withLock { $0 }.union(elsewhere)
            let orphans = childPIDs(of: getpid()).filter { !known.contains($0) }
            for pid in orphans where bgs_collect(pid) == 0 { kill(pid, SIGKILL) }
            return orphans.isEmpty
        }
        let max = isEnded.load(ordering: .acquiring) ? Self.lastSearchMax : Self.searchMax
        let isOver = searchedSince.withLock { since in
            guard !isClean, let start = since, Monotonic.now < start + max else {
                since = nil
                return true
            }
            return false
        }
        guard !isOver else { return }
        usleep(2000)
        perform { [self] in endOrphans() }
    }

    /// Runs work on the spawner's thread, in the order of the calls.
    ///
    /// Meant for short blocking file operations that belong to starting a process.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        queue.withLock { $0.append(work) }
        // This fails only if so many wake-ups are pending that the thread is awake anyway.
        _ = bgs_eventfd_signal(wakeUp)
    }

    private func run() {
        var waiting = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
        while true {
            // After an interruption or a spurious wake-up, the queue is checked all the same.
            _ = poll(&waiting, 1, -1)
            _ = bgs_eventfd_drain(wakeUp)
            for work in queue.withLock({ queue in
                defer { queue.removeAll() }
                return queue
            }) {
                work()
            }
            if isEnded.load(ordering: .acquiring), queue.withLock(\.isEmpty) { return }
        }
    }

    /// Starts a process on the calling thread; the child lives at most as long as that thread.
    ///
    /// `ChildProcess.collectHere` reaps it.
    package static func spawnHere(_ order: Order) throws(SystemError) -> Spawned {
        try startedElsewhere.withLock { (elsewhere) throws(SystemError) in
            let spawned = try start(order)
            elsewhere.insert(spawned.pid)
            return spawned
        }
    }

    /// Reaps a child that `spawnHere` has started and that has ended.
    static func collectHere(_ pid: Int32) {
        startedElsewhere.withLock { elsewhere in
            // The child has ended, so this cannot fail.
            _ = bgs_collect(pid)
            // Another process may have its number from now on.
            elsewhere.remove(pid)
        }
    }

    private static func start(_ order: Order) throws(SystemError) -> Spawned {
        // Duplicate the descriptors to numbers above those that the child will use.
        let floor = Int32(order.descriptors.count)
        var raised: [Int32] = []
        defer { for fd in raised { close(fd) } }
        for fd in order.descriptors {
            let copy = fcntl(fd, F_DUPFD_CLOEXEC, floor)
            guard copy >= 0 else {
                throw SystemError("duplicate a descriptor for", order.path, code: errno)
            }
            raised.append(copy)
        }
        let arguments = CStringArray(order.arguments)
        let environment = CStringArray(order.environment)
        let pid = order.path.withCString { path in
            raised.withUnsafeBufferPointer { fds in
                var what = bgs_spawn()
                what.path = path
                what.argv = UnsafePointer(arguments.pointer)
                what.envp = UnsafePointer(environment.pointer)
                what.fds = fds.baseAddress
                what.n_fds = floor
                what.keeps_group = order.keepsGroup ? 1 : 0
                return bgs_spawn_process(&what)
            }
        }
        try checked(pid, "start", order.path)
        // Only this thread reaps, so the id cannot have been reused.
        let pidfd = bgs_pidfd_open(pid)
        guard pidfd >= 0 else {
            kill(pid, SIGKILL)
            // No descriptor tells of its end, which is a matter of milliseconds after SIGKILL.
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
            throw SystemError("open a pidfd for", order.path, code: 0 - pidfd)
        }
        return Spawned(pid: pid, pidfd: pidfd, inheritedPeakBytes: bgs_own_peak_bytes())
    }
}

/// A NULL-terminated array of C strings, freed with its owner.
private struct CStringArray: ~Copyable {
    let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointer = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            (pointer + index).initialize(to: strdup(string))
        }
        (pointer + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointer[index]) }
        pointer.deallocate()
    }
}
