// SPDX-License-Identifier: Apache-2.0

package import BghostModel
internal import CBghostSystem
internal import Glibc

/// The folders that plugins may write, in which no link decides what else is granted.
///
/// The manifest grants paths. A plugin that may write a folder on such a path could put a link there, and so
/// decide what this path grants. Links outside of these folders belong to the operator, and are followed.
package struct WritableTrees: Equatable, Sendable {
    /// Absolute paths, without those that lie in another one: a link on such a path is never followed.
    package let granted: [String]
    /// The folder whose entries are the data directories of plugins, or links to them.
    package let dataFolder: String?

    /// O_PATH, which the C library's headers define for GNU sources only.
    package static let pathOnly: Int32 = 0o10_000_000
    /// As many as the kernel follows.
    private static let linksMax = 40

    package init(_ granted: [String] = [], dataFolder: String? = nil) {
        let all = Set(granted.map(PlainPath.withoutEnd))
        let folders = dataFolder.map { all.union([$0]) } ?? all
        self.granted = all.filter { !PlainPath.isInside($0, one: folders) }.sorted()
        self.dataFolder = dataFolder
    }

    /// The folders that the plugins of a manifest may write.
    package init(_ manifest: Manifest, dataFolder: String?) {
        self.init(manifest.plugins.flatMap(\.permissions.write), dataFolder: dataFolder)
    }

    /// Opens a path; a link on it that a plugin could have made is the error `ELOOP`.
    ///
    /// - Returns: a descriptor that the caller owns.
    package func open(_ path: String, _ flags: Int32) -> Result<Int32, SystemError> {
        let fd = bgs_open_without_links(AT_FDCWD, path, flags)
        if fd >= 0 { return .success(fd) }
        guard fd == 0 - ELOOP else { return .failure(SystemError("open", path, code: 0 - fd)) }
        do throws(SystemError) {
            // Nothing that changes meanwhile leads elsewhere: what is opened has no link on its way.
            let found = bgs_open_without_links(AT_FDCWD, try resolved(path), flags)
            guard found < 0 else { return .success(found) }
            throw SystemError("open", path, code: 0 - found)
        } catch {
            return .failure(error)
        }
    }

    /// The path to the same place without links, `.` and `..`.
    ///
    /// - Throws: `ELOOP` if there is a link that a plugin could have made.
    package func resolved(_ path: String) throws(SystemError) -> String {
        var way = [Step(path: "", identity: try Identity("/"))]
        var rest = Array(path.split(separator: "/").reversed())
        var links = 0
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                if way.count > 1 { way.removeLast() }
                continue
            }
            let next = way[way.count - 1].path + "/" + name
            var status = stat()
            guard lstat(next, &status) == 0 else { throw SystemError("open", path, code: errno) }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                guard rest.isEmpty || status.st_mode & S_IFMT == S_IFDIR else {
                    throw SystemError("open", path, code: ENOTDIR)
                }
                way.append(Step(path: next, identity: Identity(status)))
                continue
            }
            links += 1
            guard links <= Self.linksMax, mayDecide(way) else {
                throw SystemError("open", path, code: ELOOP)
            }
            let target = try Self.target(of: next)
            if target.hasPrefix("/") { way.removeLast(way.count - 1) }
            rest += target.split(separator: "/").reversed()
        }
        return way.count == 1 ? "/" : way[way.count - 1].path
    }

    /// Whether a link in the last folder of a way decides where it leads: no plugin may write there.
    private func mayDecide(_ way: [Step]) -> Bool {
        // A plugin cannot change where the outermost of these folders lies, so its identity is what it was.
        let isWritable = { (path: String) in
            var status = stat()
            guard stat(path, &status) == 0 else { return false }
            let identity = Identity(status)
            return way.contains { $0.identity == identity }
        }
        if granted.contains(where: isWritable) { return false }
        guard let dataFolder else { return true }
        do {
            return try !FolderNames.of(dataFolder).contains { isWritable(dataFolder + "/" + $0) }
        } catch {
            // Without the folder there is no data directory; if it cannot be read, no link is trusted.
            return error.code == ENOENT
        }
    }

    private static func target(of link: String) throws(SystemError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        guard count > 0 else { throw SystemError("open", link, code: count < 0 ? errno : ENOENT) }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// A folder on a way, after the links before it were followed.
    private struct Step {
        /// Without links, and "" for the root.
        let path: String
        let identity: Identity
    }

    /// What tells one file of this machine from all others.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }

        init(_ path: String) throws(SystemError) {
            var status = stat()
            guard stat(path, &status) == 0 else { throw SystemError("open", path, code: errno) }
            self.init(status)
        }
    }
}

/// Paths as texts; no file is looked at.
package enum PlainPath {
    /// An absolute path without empty parts, `.` and `..`, as if nothing on it were a link.
    package static func of(_ path: String) -> String {
        guard path.hasSuffix("/") || path.contains("//") || path.contains("/.") else { return path }
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Whether a path is a folder's, or lies below it.
    package static func isInside(_ path: String, _ folder: String) -> Bool {
        guard path.hasPrefix(folder) else { return false }
        return folder == "/" || path.utf8.count == folder.utf8.count
            || path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }

    /// A path without the slashes at its end.
    static func withoutEnd(_ path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }

    /// Whether a path lies below one of these, as if nothing on it were a link.
    static func isInside(_ path: String, one folders: Set<String>) -> Bool {
        // Where `..` leads is not known from the text.
        guard !path.contains("/..") else { return false }
        var parent = path[...]
        while let slash = parent.lastIndex(of: "/"), slash > parent.startIndex {
            parent = parent[..<slash]
            if folders.contains(String(parent)) { return true }
        }
        return path != "/" && folders.contains("/")
    }
}
