// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The libraries that a library needs, and the folders in which the loader searches for them.
///
/// It leaves out the library's symbols and notes, of which there may be any number.
package struct NeededNames: Equatable, Sendable {
    var identity: FileIdentity
    /// Those of `DT_NEEDED`, and of `DT_AUXILIARY` and `DT_FILTER`, which the loader loads too.
    package var names: [String]
    /// Paths, in which the loader may replace `$LIB` and `$PLATFORM`; relative ones begin at the current folder of the
    /// process that loads the library.
    package var folders: [String]
    /// Whether the folders are for this library's own needs only (`DT_RUNPATH`), and not for those of the libraries
    /// that it needs, too (`DT_RPATH`).
    package var hasRunPath: Bool
    /// The name under which other libraries need it.
    package var soname: String?

    /// Reads a library; a program is rejected.
    package init(path: String, budget: ImageBudget) throws(ImageError) {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        try self.init(descriptor: descriptor, path: path, budget: budget)
    }

    /// - Parameter descriptor: open for reading. The caller still owns it, and its position is not
    ///   moved.
    package init(descriptor: Int32, path: String, budget: ImageBudget) throws(ImageError) {
        let file = try BoundedFile(descriptor: descriptor, path: path, budget: budget)
        let dynamic = try DynamicTable(ELFLayout(file))
        guard !dynamic.isProgram else { throw ImageError(path, .notLibrary(kind: "a program")) }
        identity = file.identity
        names = try dynamic.needed() + dynamic.filters()
        hasRunPath = dynamic[DynamicTable.Tag.runpath] != nil
        folders = Self.folders(try dynamic.folders(), of: path)
        soname = try dynamic.soname()
    }

    /// Replaces `$ORIGIN` by the library's own folder.
    static func folders(_ written: [String], of path: String) -> [String] {
        let own = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return written.map { folder in
            for origin in ["$ORIGIN", "${ORIGIN}"] where folder.hasPrefix(origin) {
                return own + folder.dropFirst(origin.count)
            }
            return folder
        }
    }
}
