// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// Reports when the files at some paths may have changed: written, replaced, removed or created, also
/// because a folder or a link on the way was.
///
/// Each path belongs to one or more owners, which are identified by name. A folder on the way is watched for
/// its own move or removal only, so a busy one such as /tmp causes no events. The kernel has no such event
/// for a file system that is mounted over a folder, or that changes elsewhere, as one of the network: those
/// are found by ``sweep()``, which is due after each change of the mounts, after events that the kernel
/// dropped, and once a period.
package final class FileWatch: Sendable {
    /// A descriptor that is readable once a file has changed, or a sweep may be due.
    package let descriptor: Int32
    private let inotify: Int32
    private let timer: Int32
    /// The mounts of this process; -1 if the kernel does not tell their changes.
    private let mounts: Int32
    /// The time between two sweeps without a reason, nanoseconds.
    private let period: UInt64
    private let table: Mutex<FileWatchTable>
    private let known = Mutex<[String: Known]>([:])
    private let turns = Mutex(SweepTurns())

    private struct Known {
        var paths: [String]
        /// What they led to when they were last watched.
        var fingerprint: Int
    }

    /// What has happened since the last call of ``FileWatch/changes()``.
    package struct Changes: Equatable, Sendable {
        /// The owners whose files may have changed.
        package var owners: Set<String> = []
        /// Whether ``FileWatch/sweep()`` is due; it is not asked for again before that has ended.
        package var needsSweep = false
    }

    private enum Source: UInt64 {
        case files, mounts, timer
    }

    /// The time between two sweeps without a reason, nanoseconds.
    package static let sweepPeriod: UInt64 = 60_000_000_000
    /// The most folders that are watched for all owners together; the kernel permits a user at least 8192, and
    /// other programs watch folders, too.
    package static let foldersMax = 4096
    private static let passesMax = 4

    /// Creates a watch of nothing.
    ///
    /// - Parameters:
    ///   - period: the time between two sweeps without a reason, nanoseconds.
    ///   - foldersMax: how many folders are watched at the most.
    /// - Throws: `SystemError` if the kernel cannot provide it.
    package init(
        period: UInt64 = FileWatch.sweepPeriod,
        foldersMax: Int = FileWatch.foldersMax
    ) throws(SystemError) {
        let epoll = Descriptor(
            owning: try checked(bgs_epoll_create(), "create an epoll descriptor")
        )
        let files = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard files >= 0 else { throw SystemError("watch files", code: errno) }
        let inotify = Descriptor(owning: files)
        let timer = Descriptor(owning: try checked(bgs_timer(), "create a timer"))
        for (fd, source) in [(inotify.raw, Source.files), (timer.raw, .timer)] {
            try checked(bgs_epoll_add(epoll.raw, fd, BGS_IN, source.rawValue), "watch files")
        }
        var mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        // It is always readable, and wakes those who wait when the mounts have changed: so only the edge says so.
        if mounts >= 0,
            bgs_epoll_add(epoll.raw, mounts, BGS_IN | BGS_EDGE, Source.mounts.rawValue) < 0
        {
            close(mounts)
            mounts = -1
        }
        self.mounts = mounts
        self.period = period
        table = Mutex(FileWatchTable(foldersMax: foldersMax))
        self.timer = timer.release()
        self.inotify = inotify.release()
        descriptor = epoll.release()
        // The first edge is that of the registration.
        _ = ready()
    }

    deinit {
        for fd in [descriptor, inotify, timer, mounts] where fd >= 0 { close(fd) }
    }

    // MARK: Watching

    /// Replaces the paths that an owner watches.
    ///
    /// It resolves the paths, so it may wait for a disk. All calls of this and of ``watchAgain(_:)`` must come
    /// from one thread.
    ///
    /// - Parameter paths: absolute; an empty list ends the watch of the owner.
    /// - Returns: whether events report all changes of these paths, as far as this process may watch them.
    @discardableResult
    package func watch(_ paths: [String], for owner: String) -> Bool {
        guard !paths.isEmpty else {
            forget(owner)
            return true
        }
        // A folder may be replaced while it is being watched: what counts is that a second pass, during which
        // events are reported already, finds the same.
        var isStable = false
        for _ in 0..<Self.passesMax {
            var walk = PathWalk(inotify: inotify)
            // Each path is followed, also behind one that cannot be watched.
            let isComplete = paths.count { !walk.follow($0) } == 0
            let replaced = table.withLock { $0.replace(owner, walk.places) }
            for folder in replaced.unwanted { inotify_rm_watch(inotify, folder) }
            remember(owner, Known(paths: paths, fingerprint: walk.fingerprint))
            guard isComplete, replaced.isWhole else { return false }
            isStable = replaced.isSame
            if isStable { break }
        }
        return isStable
    }

    private func remember(_ owner: String, _ paths: Known) {
        let isFirst = known.withLock { known in
            let isFirst = known.isEmpty
            known[owner] = paths
            return isFirst
        }
        if isFirst { turns.withLock { $0.begin(timer, period) } }
    }

    /// Resolves the paths of an owner again, whose folders may be others now.
    ///
    /// As ``watch(_:for:)``.
    ///
    /// - Returns: `false` also if the owner watches nothing.
    @discardableResult
    package func watchAgain(_ owner: String) -> Bool {
        guard let paths = known.withLock({ $0[owner]?.paths }) else { return false }
        return watch(paths, for: owner)
    }

    /// How many folders are watched.
    var folderCount: Int { table.withLock { $0.folderCount } }

    private func forget(_ owner: String) {
        let replaced = table.withLock { $0.replace(owner, []) }
        for folder in replaced.unwanted { inotify_rm_watch(inotify, folder) }
        let isLast = known.withLock { known in
            known[owner] = nil
            return known.isEmpty
        }
        if isLast { turns.withLock { $0.end(timer) } }
    }

    // MARK: Changes

    /// What may have changed since the last call.
    ///
    /// Never waits. An event costs the same with any number of owners, but for those that it concerns.
    package func changes() -> Changes {
        var changes = Changes()
        for source in ready() {
            switch source {
            case .files: readEvents(&changes)
            case .mounts: turns.withLock { $0.sweepSoon(timer, period) }
            case .timer:
                // Without a value in it, the timer was armed again in the meantime.
                guard bgs_timer_drain(timer) == 0 else { continue }
                changes.needsSweep = turns.withLock { $0.take() }
            }
        }
        return changes
    }

    private func ready() -> [Source] {
        withUnsafeTemporaryAllocation(of: bgs_ready.self, capacity: 3) { buffer in
            let count = bgs_epoll_wait(descriptor, buffer.baseAddress, 3, 0)
            return buffer.prefix(Int(max(0, count))).compactMap { Source(rawValue: $0.token) }
        }
    }

    private func readEvents(_ changes: inout Changes) {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            let count = read(inotify, buffer.baseAddress, buffer.count)
            guard count > 0 else { return }
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
            let hasLost = table.withLock { $0.note(InotifyEvents(bytes), &changes.owners) }
            if hasLost { turns.withLock { $0.sweepSoon(timer, period) } }
        }
    }

    // MARK: Sweeps

    /// The owners whose paths lead elsewhere, or to a changed file, since they were last watched.
    ///
    /// It reads the attributes of all paths, so it may wait for a disk. Call it when ``Changes/needsSweep``
    /// says so, on any thread.
    package func sweep() -> Set<String> {
        let begin = Monotonic.now
        var found: Set<String> = []
        for (owner, known) in known.withLock({ $0 }) {
            var walk = PathWalk(inotify: nil)
            for path in known.paths { _ = walk.follow(path) }  // Nothing is watched.
            if walk.fingerprint != known.fingerprint { found.insert(owner) }
        }
        let took = Monotonic.now.since(begin)
        turns.withLock { $0.finish(timer, period, took: took) }
        return found
    }

    /// Sweeps on a thread.
    ///
    /// - Parameters:
    ///   - thread: `nil` if there is none, so that the sweep is due again after a period.
    ///   - report: gets the owners, on that thread, unless there are none.
    package func sweep(
        on thread: WorkThread?,
        _ report: @escaping @Sendable (Set<String>) -> Void
    ) {
        guard let thread else {
            return turns.withLock { $0.finish(timer, period, took: 0) }
        }
        thread.perform { [self] in
            let found = sweep()
            if !found.isEmpty { report(found) }
        }
    }
}

/// When the next sweep is due.
private struct SweepTurns {
    /// The pause before a sweep that has a reason: mounts change in groups.
    private static let pauseLeast: UInt64 = 100_000_000
    /// Sweeps that have a reason use at most one part in so many of the time of their thread.
    private static let share: UInt64 = 20

    private var isOn = false
    private var isUnderWay = false
    /// Whether the timer is armed for a sweep that has a reason.
    private var isSoon = false
    /// Whether a sweep became due while one was under way.
    private var again = false
    private var pause = Self.pauseLeast

    mutating func begin(_ timer: Int32, _ period: UInt64) {
        isOn = true
        if !isSoon { arm(timer, period, period) }
    }

    mutating func end(_ timer: Int32) {
        isOn = false
        isSoon = false
        arm(timer, 0, 0)
    }

    /// Something has happened for which a sweep is due soon.
    mutating func sweepSoon(_ timer: Int32, _ period: UInt64) {
        // One that comes after the other must not postpone it for ever.
        guard isOn, !isSoon else { return }
        isSoon = true
        arm(timer, pause, period)
    }

    /// The timer has fired; returns whether a sweep begins.
    mutating func take() -> Bool {
        isSoon = false
        guard isOn, !isUnderWay else {
            again = isOn
            return false
        }
        isUnderWay = true
        return true
    }

    mutating func finish(_ timer: Int32, _ period: UInt64, took: UInt64) {
        isUnderWay = false
        pause = max(Self.pauseLeast, took.multipliedClamped(by: Self.share))
        guard again else { return }
        again = false
        sweepSoon(timer, period)
    }

    private func arm(_ timer: Int32, _ first: UInt64, _ period: UInt64) {
        // It fails for a descriptor that is no timer only.
        _ = bgs_timer_arm(timer, first, period)
    }
}
