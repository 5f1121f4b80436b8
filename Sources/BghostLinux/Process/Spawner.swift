// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// Starts processes, and collects them, on one thread that ends after all of them.
///
/// A child that asks to die with its parent dies with the *thread* that started it, so no Task and no
/// pool thread may do it. posix_spawn also blocks its caller until the child has called exec, which
/// the reactor could not afford.
package final class Spawner: Sendable {
    /// What to start.
    package struct Order: Sendable {
        package var path: String
        package var arguments: [String]
        package var environment: [String]
        /// Become descriptors 0, 1, 2 … of the child.
        ///
        /// The caller keeps owning them.
        package var descriptors: [Int32]

        package init(
            path: String,
            arguments: [String],
            environment: [String],
            descriptors: [Int32]
        ) {
            self.path = path
            self.arguments = arguments
            self.environment = environment
            self.descriptors = descriptors
        }
    }

    /// A process that has been started.
    package struct Spawned: Sendable {
        package let pid: Int32
        /// Owned by whoever receives this.
        package let pidfd: Int32
        /// The most memory that this process has had when it started the child, bytes.
        ///
        /// Until it executes its program a child has this process's memory, and the kernel counts that
        /// as the child's: what it says of the child's peak begins above this.
        let inheritedPeakBytes: Int64
    }

    private typealias Work = @Sendable () -> Void
    private let queue = Mutex<[Work]>([])
    /// Children that have been started and not been collected.
    ///
    /// Used on the spawner's thread only.
    private let children = Mutex<Set<Int32>>([])
    private let wakeUp: Int32
    private let isEnded = Atomic<Bool>(false)

    package init() throws(SystemError) {
        let wakeUp = try checked(bgs_eventfd(), "create an event descriptor")
        self.wakeUp = wakeUp
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Spawner>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            Unmanaged.passRetained(self).toOpaque()
        )
        pthread_attr_destroy(&attributes)
    }

    deinit {
        close(wakeUp)
    }

    /// Ends the thread once it has done what it has, and with it whatever it has started and that
    /// still lives.
    package func end() {
        isEnded.store(true, ordering: .releasing)
        _ = bgs_eventfd_signal(wakeUp)
    }

    /// Starts a process and tells how that went on the spawner's thread.
    package func spawn(
        _ order: Order,
        then: @escaping @Sendable (Result<Spawned, SystemError>) -> Void
    ) {
        perform { [self] in
            let result = Result { () throws(SystemError) in try Self.spawnHere(order) }
            if case .success(let spawned) = result {
                children.withLock { _ = $0.insert(spawned.pid) }
            }
            then(result)
        }
    }

    /// Collects a child that has ended.
    ///
    /// - Parameter adoptsOrphans: whether children that were not started here are what it left behind,
    ///   to be killed: what leaves its worker's process group comes to the daemon, if that is a
    ///   subreaper.
    package func collect(_ pid: Int32, adoptsOrphans: Bool) {
        perform { [self] in
            _ = bgs_collect(pid)
            children.withLock { _ = $0.remove(pid) }
            if adoptsOrphans { endOrphans() }
        }
    }

    /// Kills and collects children that nobody started here.
    ///
    /// A child of an orphan becomes an orphan in its turn, and the dead take a moment to die, so
    /// this looks again, for a tenth of a second at most; what is left then is found when the next
    /// worker ends.
    private func endOrphans() {
        for _ in 0..<50 {
            let known = children.withLock { $0 }
            let orphans = childPIDs(of: getpid()).filter { !known.contains($0) }
            guard !orphans.isEmpty else { return }
            for pid in orphans where bgs_collect(pid) == 0 { kill(pid, SIGKILL) }
            usleep(2000)
        }
    }

    /// Does something on the spawner's thread, in the order of the calls.
    ///
    /// For small blocking work on files that belongs to starting a process.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        queue.withLock { $0.append(work) }
        _ = bgs_eventfd_signal(wakeUp)
    }

    private func run() {
        var waiting = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
        while true {
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

    /// Starts a process on the calling thread, with which it ends at the latest.
    package static func spawnHere(_ order: Order) throws(SystemError) -> Spawned {
        // The child's numbers must not be taken by what is to become them.
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
                return bgs_spawn_process(&what)
            }
        }
        try checked(pid, "start", order.path)
        // No one else reaps, so the number cannot have been used again.
        let pidfd = bgs_pidfd_open(pid)
        guard pidfd >= 0 else {
            kill(pid, SIGKILL)
            _ = bgs_collect(pid)
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
