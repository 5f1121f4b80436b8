// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials
internal import Synchronization

/// The end of a transfer that a run awaits, and its downloaded file.
///
/// The host leaves the file of an awaited download to the plugin. Source for Apple's platforms does not
/// remove it, so the SDK does once it was read. Equal requests of several tasks share the file: the last
/// of them removes it.
struct AwaitedEnd: Sendable {
    /// Plugins that share a process may have transfers with the same id.
    private struct Name: Hashable {
        let host: UInt
        let id: String
    }

    private struct Waits {
        var count = 0
        var file: URL?
        var isOwned = false
    }

    private static let open = Mutex<[Name: Waits]>([:])

    private let name: Name

    /// Notes that the end of a transfer is awaited, until `isOver` is called.
    init(_ id: String, of host: Host) {
        let name = Name(host: UInt(bitPattern: host.pointer), id: id)
        self.name = name
        Self.open.withLock { $0[name, default: Waits()].count += 1 }
    }

    /// Ends the wait; call it once, after the file was read.
    ///
    /// - Parameters:
    ///   - record: the end; `nil` if the wait ended without it.
    ///   - ownsFile: whether the plugin's code owns the file, which then stays.
    func isOver(_ record: TransferRecord?, ownsFile: Bool = false) {
        let file = Self.open.withLock { open -> URL? in
            guard var waits = open[name] else { return nil }
            waits.count -= 1
            waits.isOwned = waits.isOwned || ownsFile
            if let record, !record.upload { waits.file = record.path.map { URL(filePath: $0) } }
            open[name] = waits.count > 0 ? waits : nil
            return waits.count > 0 || waits.isOwned ? nil : waits.file
        }
        // A delegate has usually moved it away.
        if let file { try? FileManager.default.removeItem(at: file) }
    }
}
