// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostLinux

/// Files that the daemon opens on behalf of a plugin.
package enum PermittedFile {
    /// Opens a file for reading if it is one of the permitted files or is inside a permitted folder.
    ///
    /// The kernel resolves the path below that folder and refuses every way out of it, including
    /// links that are created during the call.
    ///
    /// - Parameter trees: the folders that plugins may write; no link in them is followed on the way to a
    ///   permitted folder.
    /// - Returns: a descriptor that the caller owns.
    package static func open(
        _ path: String,
        within readable: [String],
        among trees: WritableTrees = WritableTrees()
    ) throws(FetchFailure) -> Int32 {
        let shown = PrintableText.escaped(String(path.prefix(300)))
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw .badFile(reason: "`\(shown)` is not an absolute path")
        }
        for granted in readable {
            if path == granted { return try opened(ConfinedFile.open(path, among: trees), shown) }
            let folder = granted.hasSuffix("/") ? granted : granted + "/"
            guard path.hasPrefix(folder) else { continue }
            return try opened(
                ConfinedFile.open(
                    String(path.dropFirst(folder.count)),
                    below: granted,
                    among: trees
                ),
                shown
            )
        }
        throw .badFile(
            reason: "this plugin may not read `\(shown)`: grant its folder in `permissions.read`"
        )
    }

    /// The same, on a thread that may wait for a disk.
    static func openOnDisk(
        _ path: String,
        within readable: [String],
        among trees: WritableTrees
    ) async throws -> UploadFile {
        try await onDisk { try UploadFile(owning: open(path, within: readable, among: trees)) }
    }

    private static func opened(
        _ result: Result<Int32, SystemError>,
        _ shown: String
    ) throws(FetchFailure) -> Int32 {
        do throws(SystemError) {
            return try result.get()
        } catch {
            throw .badFile(reason: "`\(shown)`: \(error.reason)")
        }
    }
}
