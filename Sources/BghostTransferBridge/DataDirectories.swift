// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostLinux
package import BghostModel
package import BghostServices
package import BghostTransfer
package import Glibc

/// Measures the data directories of plugins, and keeps the space that transfers may use in them.
///
/// The kernel limits the size of each file of a worker. The daemon measures the total, during and
/// after runs, on a thread that may block on the disk. Measurements of one folder do not overlap. They
/// use at most a twentieth of one processor, or a fifth if the folder takes more than a second of it.
///
/// The host owns it and handles the results. It holds no reference to the host. Use it on the
/// reactor's thread only. Each call costs O(1) there.
package final class DataDirectories {
    /// The limits of one folder.
    package struct Limits: Sendable {
        package var bytes: UInt64
        /// The most files, folders and links.
        package var files: Int

        package init(_ limits: WorkerLimits) {
            bytes = limits.dataBytes
            files = limits.files
        }
    }

    /// The result of a measurement.
    package struct Measurement: Sendable {
        package var usage: FolderUsage
        /// Elapsed time, nanoseconds.
        package var took: UInt64
        /// Processor time, nanoseconds.
        package var used: UInt64
    }

    /// A measurement delays the next one by this many times its processor time.
    private static let pauseFactor: UInt64 = 20
    /// The factor for measurements after which the pause would be longer than `pauseMax`.
    private static let leastPauseFactor: UInt64 = 4
    /// The longest pause after a measurement that is not itself slow, nanoseconds: the plugin writes meanwhile.
    private static let pauseMax: UInt64 = 5_000_000_000

    private let threads: BlockingThreads
    private var rooms: [String: DataRoom] = [:]
    /// The earliest time of the next measurement, by plugin; `never` while one is in progress.
    private var nextMeasurements: [String: MonotonicInstant] = [:]
    /// The plugins of which a measurement was skipped after the last one began.
    private var skipped: Set<String> = []

    package init(_ threads: BlockingThreads) {
        self.threads = threads
    }

    // MARK: Space for transfers

    /// The space of a plugin's data directory; later calls return the same object with the new limit.
    ///
    /// - Parameter onFull: called on any thread when a transfer found no space; only the closure of
    ///   the first call is kept.
    package func room(
        of plugin: String,
        in folder: String,
        _ limits: Limits,
        onFull: @escaping @Sendable () -> Void
    ) -> DataRoom {
        let room =
            rooms[plugin]
            ?? DataRoom(folder: folder, bytesMax: limits.bytes, onFull: onFull)
        room.setLimits(bytes: limits.bytes, files: limits.files)
        rooms[plugin] = room
        return room
    }

    /// Forgets the measurements of plugins that are no longer in the manifest.
    ///
    /// The measured and reserved sizes stay: transfers of a plugin that returns need them.
    package func forget(_ plugins: [String]) {
        for plugin in plugins {
            nextMeasurements[plugin] = nil
            skipped.remove(plugin)
        }
    }

    // MARK: Measurements

    /// Measures a folder unless a measurement is in progress or was made a short time before.
    ///
    /// A skipped measurement is remembered; ``skippedUntil(_:)`` says when to call this again.
    ///
    /// - Parameters:
    ///   - processes: the plugin's processes, which may hold files without a name.
    ///   - done: called on another thread; the host then calls ``measured(_:took:used:now:)``.
    package func measure(
        _ plugin: String,
        in folder: String,
        _ limits: Limits,
        of processes: @autoclosure () -> [pid_t],
        now: MonotonicInstant,
        done: @escaping @Sendable (Measurement) -> Void
    ) {
        guard now >= nextMeasurements[plugin, default: .zero],
            let thread = threads.thread(for: .data)
        else {
            skipped.insert(plugin)
            return
        }
        skipped.remove(plugin)
        nextMeasurements[plugin] = .never
        let (processes, room) = (processes(), rooms[plugin])
        thread.perform {
            done(Self.measurement(of: folder, limits, of: processes, room))
        }
    }

    /// Allows the next measurement after one has ended.
    ///
    /// - Parameters:
    ///   - took: its elapsed time, nanoseconds.
    ///   - used: its processor time, nanoseconds.
    package func measured(_ plugin: String, took: UInt64, used: UInt64, now: MonotonicInstant) {
        // The plugin may have been removed in the meantime.
        guard nextMeasurements[plugin] != nil else { return }
        let pause = min(
            used.multipliedClamped(by: Self.pauseFactor),
            max(Self.pauseMax, used.multipliedClamped(by: Self.leastPauseFactor))
        )
        // A plugin can make the elapsed time long, so that adds little. It spares a slow disk.
        nextMeasurements[plugin] = now + max(HostLimits.dataPeriod, took, pause)
    }

    /// When a skipped measurement can be made; `nil` if none was skipped, or while one is in progress.
    package func skippedUntil(_ plugin: String) -> MonotonicInstant? {
        guard skipped.contains(plugin), let next = nextMeasurements[plugin], next != .never else {
            return nil
        }
        return next
    }

    /// Measures the space of a folder, and returns afterwards.
    ///
    /// Call it before transfers resume: their plugin has no processes yet, and an unknown size counts
    /// as an empty folder.
    package nonisolated(nonsending) func measureRoom(of plugin: String, _ limits: Limits) async {
        guard let room = rooms[plugin], let thread = threads.thread(for: .data) else { return }
        await withCheckedContinuation { continuation in
            thread.perform {
                // It stores the size in `room`.
                _ = Self.measurement(of: room.folder, limits, of: [], room)
                continuation.resume()
            }
        }
    }

    /// Counts a folder, and tells its room; it blocks on the disk.
    private static func measurement(
        of folder: String,
        _ limits: Limits,
        of processes: [pid_t],
        _ room: DataRoom?
    ) -> Measurement {
        let (begin, usedBefore) = (Monotonic.now, ThreadTime.now)
        let mark = room?.mark ?? DataRoom.Mark()
        let usage = FolderUsage(
            of: folder,
            besides: UnlinkedFiles.bytes(of: processes, with: folder),
            bytesMax: limits.bytes,
            entriesMax: limits.files
        )
        room?.counted(usage.completeBytes, files: usage.entries, since: mark)
        return Measurement(
            usage: usage,
            took: Monotonic.now.since(begin),
            used: ThreadTime.now - usedBefore
        )
    }
}
