// SPDX-License-Identifier: Apache-2.0

package import BghostLinux
internal import BghostTransferRules
internal import Glibc

/// The files and hosts that the transfers of a plugin may use.
///
/// The engine asks for it at each attempt, so that a revoked permission also applies to running
/// transfers.
package struct TransferAccess: Sendable {
    /// Absolute folders in which downloads may be stored; a plugin's data directory is one of them.
    var writable: [String]
    /// Absolute folders and files that may be uploaded.
    var readable: [String]
    /// The folders that plugins may write; no link in them is followed on the way to those above.
    var trees: WritableTrees
    /// Whether a host (lower case, IPv6 addresses without brackets) and port may be reached.
    ///
    /// It is called on any thread and must not block.
    var permits: @Sendable (_ host: String, _ port: UInt16) -> Bool
    /// The space left in the plugin's data directory; `nil` means no limit.
    var room: DataRoom?

    package init(
        writable: [String],
        readable: [String],
        among trees: WritableTrees? = nil,
        room: DataRoom? = nil,
        permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
    ) {
        self.writable = writable
        self.readable = readable
        self.trees = trees ?? WritableTrees(writable)
        self.room = room
        self.permits = permits
    }

    /// Opens a file for an upload.
    ///
    /// The kernel resolves the path below a granted folder and refuses every way out of it,
    /// including links that are created meanwhile.
    func openForReading(_ path: String) throws(TransferFault) -> UploadFile {
        try Self.check(path)
        for granted in readable {
            let result: Result<Int32, SystemError>
            if path == granted {
                result = ConfinedFile.open(path, among: trees)
            } else if let rest = Self.rest(of: path, below: granted) {
                result = ConfinedFile.open(rest, below: granted, among: trees)
            } else {
                continue
            }
            do {
                return try UploadFile(owning: result.get())
            } catch let error as SystemError {
                throw Self.fault(path, error)
            } catch let failure as FetchFailure {
                throw TransferFault(failure)
            } catch {
                throw TransferFault(.file, "`\(Printable.text(path, limit: 300))`: \(error)")
            }
        }
        throw TransferFault(
            .forbidden,
            "this plugin may not read `\(Printable.text(path, limit: 300))`: grant its folder in"
                + " `permissions.read`"
        )
    }

    /// Opens the folder in which a download is to be stored, and returns the file's name in it.
    ///
    /// - Returns: a descriptor that the caller owns, and a name without slashes.
    func openFolder(of path: String) throws(TransferFault) -> (descriptor: Int32, name: String) {
        try Self.check(path)
        for granted in writable {
            guard let rest = Self.rest(of: path, below: granted) else { continue }
            let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
            guard let name = parts.last, Self.isName(name) else { break }
            let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
            switch ConfinedFile.open(folder, below: granted, among: trees) {
            case .success(let descriptor): return (descriptor, String(name))
            case .failure(let error): throw Self.fault(path, error)
            }
        }
        throw TransferFault(
            .forbidden,
            "this plugin may not write `\(Printable.text(path, limit: 300))`: name a file in its"
                + " data directory, or grant its folder in `permissions.write`"
        )
    }

    /// Counts a file that is about to be created, if its folder has a limit.
    func takeFile(for path: String) throws(TransferFault) {
        guard let room, room.holds(path), !room.takeFile() else { return }
        throw TransferFault(
            .noSpace,
            "`\(Printable.text(path, limit: 300))`: the plugin's data directory has as many files as it may:"
                + " remove some, or raise `limits.files`"
        )
    }

    /// Reserves disk space for a part of a file of a known length, if its folder has a limit.
    ///
    /// - Returns: the bytes reserved; pass them to ``takeRoom(_:from:for:)`` and in the end to
    ///   ``releaseRoom(_:for:)``.
    func reserveRoom(_ bytes: UInt64, for path: String) throws(TransferFault) -> UInt64 {
        guard let room, room.holds(path) else { return 0 }
        guard room.reserve(bytes) else { throw Self.noRoom(path) }
        return bytes
    }

    /// Takes space for bytes that are about to be written to a file, if its folder has a limit.
    ///
    /// Report them later with ``wroteRoom(_:for:)``.
    func takeRoom(
        _ bytes: UInt64,
        from reservation: inout UInt64,
        for path: String
    ) throws(TransferFault) {
        guard bytes > 0, let room, room.holds(path) else { return }
        guard room.take(bytes, from: &reservation) else {
            throw Self.noRoom(path)
        }
    }

    /// Reports that bytes are in the file, or never will be, for which space was taken.
    func wroteRoom(_ bytes: UInt64, for path: String) {
        guard bytes > 0, let room, room.holds(path) else { return }
        room.wrote(bytes)
    }

    /// Returns the unused bytes of a reservation.
    func releaseRoom(_ reservation: UInt64, for path: String) {
        guard let room, room.holds(path) else { return }
        room.release(reservation)
    }

    private static func noRoom(_ path: String) -> TransferFault {
        TransferFault(
            .noSpace,
            "`\(Printable.text(path, limit: 300))`: the plugin's data directory has no room for it: make"
                + " room there, or raise `limits.data`"
        )
    }

    private static func check(_ path: String) throws(TransferFault) {
        guard path.hasPrefix("/"), path.utf8.count < 4096, !path.utf8.contains(0) else {
            throw TransferFault(
                .badRequest,
                "`\(Printable.text(path, limit: 300))` is not an absolute path"
            )
        }
    }

    private static func rest(of path: String, below granted: String) -> String? {
        let folder = granted.hasSuffix("/") ? granted : granted + "/"
        guard path.hasPrefix(folder), path.utf8.count > folder.utf8.count else { return nil }
        return String(path.dropFirst(folder.count))
    }

    /// Checks a file name.
    ///
    /// The prefix of unfinished files is reserved for them.
    private static func isName(_ name: Substring) -> Bool {
        !["", ".", ".."].contains(name) && name.utf8.count <= 255
            && !name.hasPrefix(PartFile.prefix)
    }

    static func fault(_ path: String, _ error: SystemError) -> TransferFault {
        let code: TransferFault.Code =
            switch error.code {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            // The daemon or its disk cannot do it now; the file may be as it should.
            case EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, EIO, ESTALE, EROFS: .limit
            default: .file
            }
        return TransferFault(
            code,
            "`\(Printable.text(path, limit: 300))`: \(error.operation): \(error.reason)"
        )
    }
}
