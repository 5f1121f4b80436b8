// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import Glibc

/// What the transfers of a plugin may touch.
///
/// Asked for anew with each attempt, so that a permission that was taken back is taken back from
/// transfers under way too.
package struct TransferAccess: Sendable {
    /// Folders in which downloads may end, absolute; a plugin's data directory is one of them.
    package var writable: [String]
    /// Folders and files that may be sent, absolute.
    package var readable: [String]
    /// Whether a host (lower case, IPv6 addresses without brackets) and port may be reached; called
    /// on any thread, and must not block.
    package var permits: @Sendable (_ host: String, _ port: UInt16) -> Bool

    package init(
        writable: [String],
        readable: [String],
        permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
    ) {
        self.writable = writable
        self.readable = readable
        self.permits = permits
    }

    /// Opens a file that is to be sent.
    ///
    /// The kernel resolves the path below what was granted and refuses every way out of it, also by
    /// a link that is put there meanwhile.
    func openForReading(_ path: String) throws(TransferFault) -> UploadFile {
        try Self.check(path)
        for granted in readable {
            let result: Result<Int32, SystemError>
            if path == granted {
                result = ConfinedFile.open(path)
            } else if let rest = Self.rest(of: path, below: granted) {
                result = ConfinedFile.open(rest, below: granted)
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

    /// Opens the folder in which a download is to end, and says under which name.
    ///
    /// - Returns: a descriptor that the caller owns, and a name without slashes.
    func openFolder(of path: String) throws(TransferFault) -> (descriptor: Int32, name: String) {
        try Self.check(path)
        for granted in writable {
            guard let rest = Self.rest(of: path, below: granted) else { continue }
            let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
            guard let name = parts.last, Self.isName(name) else { break }
            let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
            switch ConfinedFile.open(folder, below: granted) {
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

    /// The unfinished file has a name of its own, which nothing else may have.
    private static func isName(_ name: Substring) -> Bool {
        !["", ".", ".."].contains(name) && name.utf8.count <= 255
            && !name.hasPrefix(PartFile.prefix)
    }

    static func fault(_ path: String, _ error: SystemError) -> TransferFault {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
        return TransferFault(
            isFull ? .noSpace : .file,
            "`\(Printable.text(path, limit: 300))`: \(error.operation): \(error.reason)"
        )
    }
}
