// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How much space a plugin's data directory has left for the files that the daemon writes there.
///
/// The daemon measures the folder from time to time. A transfer reserves its bytes here before it
/// writes them, so that transfers cannot exceed the limit between two measurements, nor while the
/// plugin has no run. If the server announces the length of a file, the transfer reserves all of it
/// first: otherwise several files could share the room in parts, and none of them would be whole.
/// Safe from any thread.
package final class DataRoom: Sendable {
    private struct State {
        var limit: UInt64
        /// The most files, folders and links.
        var filesMax: Int
        /// Their number at the last measurement.
        var countedFiles = 0
        /// Files created since that measurement began.
        var createdFiles = 0
        /// Size of the folder at the last measurement, bytes.
        var counted: UInt64 = 0
        /// Bytes written since that measurement began.
        var written: UInt64 = 0
        /// Bytes taken that are not in a file yet.
        ///
        /// A measurement does not see them, also if it begins now.
        var unwritten: UInt64 = 0
        /// Bytes reserved for transfers that have not received them yet.
        var reserved: UInt64 = 0

        func hasRoom(for bytes: UInt64) -> Bool {
            let room = limit - DataRoom.margin(limit)
            // Compares one by one, because the sum could overflow.
            return counted <= room && written <= room - counted
                && unwritten <= room - counted - written
                && reserved <= room - counted - written - unwritten
                && bytes <= room - counted - written - unwritten - reserved
        }
    }

    /// Absolute path.
    package let folder: String
    private let state: Mutex<State>
    private let onFull: @Sendable () -> Void

    /// - Parameter onFull: called on any thread when space was refused. Files may have been removed
    ///   since the last measurement, so the receiver should measure again.
    package init(
        folder: String,
        bytesMax limit: UInt64,
        filesMax: Int = .max,
        onFull: @escaping @Sendable () -> Void
    ) {
        self.folder = folder
        self.onFull = onFull
        state = Mutex(State(limit: limit, filesMax: filesMax))
    }

    /// Sets the limits, after the manifest changed.
    package func setLimits(bytes: UInt64, files: Int) {
        state.withLock { state in
            state.limit = bytes
            state.filesMax = files
        }
    }

    /// The disk space that a file of a length uses at least, bytes: whole blocks of 4 KiB.
    ///
    /// Limits count blocks, so thousands of tiny files would otherwise use far more than was reserved for them.
    static func space(of length: Int64) -> UInt64 {
        let length = UInt64(clamping: length)
        return length > .max - 4095 ? length : (length + 4095) & ~4095
    }

    /// Counts a file that is about to be created.
    ///
    /// - Returns: `false` if the folder has as many as it may; then nothing is counted.
    func takeFile() -> Bool {
        let isTaken = state.withLock { state in
            guard state.countedFiles < state.filesMax,
                state.createdFiles < state.filesMax - state.countedFiles
            else { return false }
            state.createdFiles += 1
            return true
        }
        if !isTaken { onFull() }
        return isTaken
    }

    /// Reserves space for a file whose length is known.
    ///
    /// Every reservation must be returned with ``release(_:)``, less the bytes that
    /// ``take(_:from:)`` has used.
    ///
    /// - Returns: `false` if there is not enough space; then nothing is reserved.
    func reserve(_ bytes: UInt64) -> Bool {
        let isReserved = state.withLock { state in
            guard state.hasRoom(for: bytes) else { return false }
            state.reserved &+= bytes
            return true
        }
        if !isReserved { onFull() }
        return isReserved
    }

    /// Returns the unused bytes of a reservation.
    func release(_ bytes: UInt64) {
        state.withLock { $0.reserved -= min($0.reserved, bytes) }
    }

    /// Takes space for bytes that are about to be written.
    ///
    /// Report them with ``wrote(_:)`` when they are in the file, or when they never will be.
    ///
    /// - Parameter reservation: the bytes that the caller has reserved; used first.
    /// - Returns: `false` if there is not enough space; then nothing is taken.
    func take(_ bytes: UInt64, from reservation: inout UInt64) -> Bool {
        let part = min(bytes, reservation)
        let isTaken = state.withLock { state in
            // Also for reserved bytes: the plugin may have written in the meantime.
            guard state.hasRoom(for: bytes - part) else { return false }
            state.reserved -= min(state.reserved, part)
            state.unwritten &+= bytes
            return true
        }
        if isTaken { reservation -= part } else { onFull() }
        return isTaken
    }

    /// Counts taken bytes as part of their file, which measurements that begin from now on see.
    func wrote(_ bytes: UInt64) {
        state.withLock { state in
            state.unwritten -= min(state.unwritten, bytes)
            state.written &+= bytes
        }
    }

    /// A disk stores large files with blocks for their map, so they use a little more than their length.
    ///
    /// This margin prevents a transfer alone from bringing its plugin over the limit.
    fileprivate static func margin(_ limit: UInt64) -> UInt64 { min(limit / 64, 1 << 20) }

    /// What was written and created since the last measurement, at one moment.
    package struct Mark: Sendable {
        var bytes: UInt64 = 0
        var files = 0

        package init() {}
    }

    /// What was written and created so far.
    ///
    /// Read it when a measurement begins and pass it to ``counted(_:files:since:)`` when the measurement
    /// ends.
    package var mark: Mark {
        state.withLock { state in
            var mark = Mark()
            mark.bytes = state.written
            mark.files = state.createdFiles
            return mark
        }
    }

    /// Records the result of a measurement, which includes all that was written before it began.
    ///
    /// What is written during the measurement may count twice until the next one.
    ///
    /// - Parameters:
    ///   - bytes: the size of the folder; `nil` if it could not be measured completely. Then nothing has room
    ///     until a later measurement is complete.
    ///   - files: the number of its files, folders and links.
    ///   - mark: the ``mark`` of its beginning.
    package func counted(_ bytes: UInt64?, files: Int, since mark: Mark) {
        state.withLock { state in
            state.counted = bytes ?? .max
            state.written -= min(state.written, mark.bytes)
            state.countedFiles = files
            state.createdFiles -= min(state.createdFiles, mark.files)
        }
    }

    /// Whether a file lies in the folder.
    func holds(_ path: String) -> Bool { path.hasPrefix(folder + "/") }
}
