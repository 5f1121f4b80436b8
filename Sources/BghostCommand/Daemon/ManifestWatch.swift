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

/// Has the host take up the manifest's files whenever one of them changes, for `"onChange": "reload"`.
///
/// The service group requires a description.
struct ManifestWatch: Service, CustomStringConvertible {
    let host: Host
    let log: HostLog
    /// The absolute path of `tasks.json`.
    let path: String

    var description: String { "the watch on the manifest" }

    func run() async throws {
        let (events, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let watcher: ManifestWatcher
        do throws(SystemError) {
            watcher = try ManifestWatcher(path, continuation)
        } catch {
            log.write(
                .error,
                "manifest.unwatched",
                "changes of \(path) are not noticed: \(error.description); bghost reload takes them up"
            )
            return try await gracefulShutdown()
        }
        watcher.begin()
        defer { watcher.end() }
        for await _ in events.cancelOnGracefulShutdown() {
            guard await host.hasChangedFiles(isNamed: watcher.takeNamed()) else { continue }
            let entry = AuditEntry(
                at: WallClock.now,
                AuditActor(.files),
                verb: "reload",
                target: path,
                status: .begun
            )
            // The host logs the reason for a refusal; a file has no response.
            _ = try? await host.audited(
                entry,
                now: { WallClock.now },
                code: { FaultCode.text(of: $0) }
            ) { try await host.reloadFiles() }
        }
    }
}

/// Waits, on a thread of its own, for changes in the folder of a manifest and in its `tasks.d`.
private final class ManifestWatcher: Sendable {
    /// How long nothing must change before the files are read, milliseconds: editors and package managers
    /// write in steps.
    private static let pause: Int32 = 300
    /// The most that changes one after the other delay the reading, nanoseconds.
    private static let pauseMax: UInt64 = 5_000_000_000

    private let name: String
    private let folder: String
    private let isNamed = Mutex(true)
    private let stop: (reading: Int32, writing: Int32)
    private let thread = WorkThread()
    private let continuation: AsyncStream<Void>.Continuation
    private let inotify: Handoff

    /// The watch, which only the thread uses.
    private final class Handoff: @unchecked Sendable {
        // @unchecked: see above.
        let tree: TreeWatch

        init(_ tree: TreeWatch) { self.tree = tree }
    }

    init(
        _ path: String,
        _ continuation: AsyncStream<Void>.Continuation
    ) throws(SystemError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        name = String(path[slash...].dropFirst())
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        self.continuation = continuation
        inotify = Handoff(
            try TreeWatch(folder, seesCreation: true) { name, isFolder in
                // Drafts are hidden. A volume of Kubernetes replaces the link `..data` alone.
                isFolder ? name == "tasks.d" : !name.hasPrefix(".") || name == "..data"
            }
        )
        stop = try Pipe.make()
    }

    deinit {
        close(stop.reading)
        close(stop.writing)
    }

    /// Begins; what has changed since the daemon read the files is an event too.
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

    /// Whether a file of the manifest has changed since the last call, and not only another one beside it.
    func takeNamed() -> Bool {
        isNamed.withLock { isNamed in
            defer { isNamed = false }
            return isNamed
        }
    }

    private func loop() {
        while wait(-1) == .changed {
            take()
            let end = Monotonic.now + Self.pauseMax
            pausing: while Monotonic.now < end {
                switch wait(Self.pause) {
                case .changed: take()
                case .quiet: break pausing
                case .stopped: return
                }
            }
            continuation.yield()
        }
    }

    private enum Turn {
        case changed, quiet, stopped
    }

    /// Waits for a change, at most so many milliseconds; -1 is for ever.
    private func wait(_ timeout: Int32) -> Turn {
        var watched = [
            pollfd(fd: inotify.tree.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.reading, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&watched, 2, timeout)
            if count < 0, errno == EINTR { continue }
            if watched[1].revents != 0 || count < 0 { return .stopped }
            return count == 0 ? .quiet : .changed
        }
    }

    private func take() {
        let changes = inotify.tree.changes()
        let names = changes.contains { $0.isEmpty || $0 == name || $0.hasPrefix("tasks.d") }
        if names { isNamed.withLock { $0 = true } }
    }
}
