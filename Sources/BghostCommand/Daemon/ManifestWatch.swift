// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import Glibc
internal import ServiceLifecycle
internal import Synchronization

/// Makes the host reload the manifest when one of its files changes, for `"onChange": "reload"`.
///
/// The service group requires a description.
struct ManifestWatch: Service, CustomStringConvertible {
    let host: Host
    let log: HostLog
    /// The absolute path of `tasks.json`.
    let path: String

    /// How often a refused reload is tried again without a change of the files: the reason may be a library
    /// or a secret that comes later.
    private static let retriesMax = 7

    var description: String { "the watch on the manifest" }

    func run() async throws {
        let (events, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let watcher: ManifestWatcher
        do throws(SystemError) {
            watcher = try ManifestWatcher(path, continuation) { [log] problem in
                log.write(.error, "manifest.unwatched", problem)
            }
        } catch {
            log.write(
                .error,
                "manifest.unwatched",
                "changes of \(path) are not noticed: \(error.description); bghost reload takes them up"
            )
            return try await gracefulShutdown()
        }
        watcher.begin()
        // A drain does not wait for a reload that loads plugins; the host refuses it then.
        let follower = Task { await follow(events, watcher) }
        defer {
            follower.cancel()
            watcher.end()
            continuation.finish()
        }
        try await gracefulShutdown()
    }

    private func follow(_ events: AsyncStream<Void>, _ watcher: ManifestWatcher) async {
        var retries = 0
        var retry: Task<Void, Never>?
        for await _ in events {
            let cause = watcher.resetCause()
            // Files beside the manifest say nothing, and a retry goes on.
            guard await host.hasChangedFiles(isNamed: cause != .other) else { continue }
            retry?.cancel()
            if cause != .retry { retries = 0 }
            do {
                // The host logs the reason for a refusal; a file has no response.
                _ = try await host.auditedReload(.files, target: path) {
                    try await $0.reloadFiles()
                }
                retries = 0
            } catch {
                let needsRestart = (error as? OperatorRefusal)?.code == .needsRestart
                guard !needsRestart, retries < Self.retriesMax else { continue }
                let pause = Duration.seconds(5 << retries)
                retries += 1
                retry = Task {
                    // Cancelled by the next reload.
                    guard (try? await Task.sleep(for: pause)) != nil else { return }
                    watcher.tryAgain()
                }
            }
        }
        retry?.cancel()
    }
}

/// Waits, on a thread of its own, for changes in the folder of a manifest and in its `tasks.d`, and for other
/// folders that come into their places.
private final class ManifestWatcher: Sendable {
    /// How long nothing must change before the files are read, milliseconds: editors and package managers
    /// write in steps.
    private static let pause: Int32 = 300
    /// The most that changes one after the other delay the reading, nanoseconds.
    private static let pauseMax: UInt64 = 5_000_000_000
    /// How long after each other it looks for a folder that is gone, milliseconds.
    private static let absencePause: Int32 = 2000

    enum Cause: Int, Comparable {
        /// A file beside the manifest has changed.
        case other
        /// It is time to try again.
        case retry
        /// A file of the manifest has changed.
        case manifest

        static func < (one: Cause, other: Cause) -> Bool { one.rawValue < other.rawValue }
    }

    private let path: String
    private let name: String
    private let folder: String
    private let cause = Mutex(Cause.manifest)
    private let stop: (reading: Int32, writing: Int32)
    private let thread = WorkThread()
    private let continuation: AsyncStream<Void>.Continuation
    private let onProblem: @Sendable (String) -> Void
    /// Reports other folders in the places of those that `inotify` watches, and a main file behind a link.
    private let places: FileWatch
    private let inotify: Handoff

    /// The watch, which only the thread uses.
    private final class Handoff: @unchecked Sendable {
        // @unchecked: see above.
        var tree: TreeWatch
        /// The folders that `tree` watches.
        var folders: [FolderIdentity?]
        var isElsewhere = false
        var hasReported = false

        init(_ tree: TreeWatch, _ folders: [FolderIdentity?]) {
            self.tree = tree
            self.folders = folders
        }

        var isGone: Bool { isElsewhere || tree.isGone }
    }

    /// - Parameter onProblem: called on the thread when changes may be missed.
    init(
        _ path: String,
        _ continuation: AsyncStream<Void>.Continuation,
        onProblem: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        self.path = path
        name = String(path[slash...].dropFirst())
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        self.continuation = continuation
        self.onProblem = onProblem
        // Before the folders are opened, so that none is missed that is replaced in between.
        places = try FileWatch()
        places.watch([path, folder + "/tasks.d"], for: path)
        let folders = Self.folders(folder)
        inotify = Handoff(try Self.tree(folder), folders)
        stop = try Pipe.make()
    }

    deinit {
        close(stop.reading)
        close(stop.writing)
    }

    private static func tree(_ folder: String) throws(SystemError) -> TreeWatch {
        try TreeWatch(folder, seesAll: true, followsLinks: true) { name, isFolder in
            // Drafts are hidden. A volume of Kubernetes replaces the link `..data` alone.
            isFolder ? name == "tasks.d" : !name.hasPrefix(".") || name == "..data"
        }
    }

    private static func folders(_ folder: String) -> [FolderIdentity?] {
        [folder, folder + "/tasks.d"].map { FolderIdentity(path: $0) }
    }

    /// Begins; a change since the daemon read the files is an event too.
    func begin() {
        continuation.yield()
        thread.perform { [self] in loop() }
    }

    func end() {
        var byte: UInt8 = 0
        // A full pipe ends the thread as well.
        _ = write(stop.writing, &byte, 1)
        thread.end()
    }

    /// Makes an event without a change.
    func tryAgain() {
        add(.retry)
        continuation.yield()
    }

    /// The most important cause of events since the last call.
    func resetCause() -> Cause {
        cause.withLock { cause in
            defer { cause = .other }
            return cause
        }
    }

    private func add(_ new: Cause) { cause.withLock { $0 = max($0, new) } }

    private func loop() {
        while true {
            if inotify.tree.isIncomplete { report("more folders than the system can watch") }
            if inotify.isGone, !reopen() { return }
            guard wait(-1) == .changed else { return }
            guard readChanges() else { continue }
            let end = Monotonic.now + Self.pauseMax
            pausing: while Monotonic.now < end {
                switch wait(Self.pause) {
                case .changed: readChanges()  // Any change prolongs the pause.
                case .quiet: break pausing
                case .stopped: return
                }
            }
            if inotify.isElsewhere { inotify.isElsewhere = !openTree() }
            continuation.yield()
        }
    }

    /// Watches the folders that are in their places now.
    ///
    /// - Returns: whether the folder of the manifest is there.
    private func openTree() -> Bool {
        places.watchAgain(path)
        let folders = Self.folders(folder)
        // It is tried again until the folder is there.
        guard let tree = try? Self.tree(folder) else { return false }
        inotify.tree = tree
        inotify.folders = folders
        return true
    }

    /// Waits until the folder is there again.
    ///
    /// - Returns: whether it is; `false` if the watch ends.
    private func reopen() -> Bool {
        report("the folder is gone")
        while true {
            var stopping = pollfd(fd: stop.reading, events: Int16(POLLIN), revents: 0)
            guard poll(&stopping, 1, Self.absencePause) == 0 else { return false }
            guard openTree() else { continue }
            inotify.isElsewhere = false
            inotify.hasReported = false
            add(.manifest)
            continuation.yield()
            return true
        }
    }

    private func report(_ reason: String) {
        guard !inotify.hasReported else { return }
        inotify.hasReported = true
        onProblem("changes in \(folder) may not be noticed: \(reason); bghost reload takes them up")
    }

    private enum Turn {
        case changed, quiet, stopped
    }

    /// Waits for a change, at most so many milliseconds; -1 is for ever.
    private func wait(_ timeout: Int32) -> Turn {
        var watched = [
            pollfd(fd: inotify.tree.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: places.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.reading, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&watched, 3, timeout)
            if count < 0, errno == EINTR { continue }
            if watched[2].revents != 0 || count < 0 { return .stopped }
            return count == 0 ? .quiet : .changed
        }
    }

    /// Returns whether a file or a folder has changed.
    @discardableResult
    private func readChanges() -> Bool {
        let changed = inotify.tree.changes()
        let names = changed.contains { path in
            path.isEmpty || path == name || path == "tasks.d" || path.hasPrefix("tasks.d/")
        }
        let moved = places.changes()
        let isMoved = !moved.owners.isEmpty || moved.needsSweep && !places.sweep().isEmpty
        if isMoved {
            places.watchAgain(path)
            if Self.folders(folder) != inotify.folders { inotify.isElsewhere = true }
        }
        if names || isMoved { add(.manifest) }
        return isMoved || !changed.isEmpty || inotify.isGone
    }
}

/// Which folder is at a path.
private struct FolderIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// - Returns: `nil` if there is no file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
