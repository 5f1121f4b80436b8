// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Opens files at untrusted paths.
package enum ConfinedFile {
    /// Opens a path below a folder for reading.
    ///
    /// Neither links nor `..` can lead out of the folder.
    ///
    /// - Parameter trees: no link in them is followed on the way to the folder.
    package static func open(
        _ path: String,
        below folder: String,
        among trees: WritableTrees = WritableTrees()
    ) -> Result<Int32, SystemError> {
        trees.open(folder, O_RDONLY | O_DIRECTORY).flatMap { fd in
            defer { close(fd) }
            return answer(bgs_open_beneath(fd, path), path)
        }
    }

    /// Opens exactly this path for reading; fails if it is a link.
    ///
    /// - Parameter trees: no link in them is followed on the way to the file.
    package static func open(
        _ path: String,
        among trees: WritableTrees = WritableTrees()
    ) -> Result<Int32, SystemError> {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            return trees.open(path, flags)
        }
        let folder = String(path[..<slash])
        return trees.open(folder, WritableTrees.pathOnly | O_DIRECTORY).flatMap { folder in
            defer { close(folder) }
            let fd = openat(folder, String(path[path.index(after: slash)...]), flags | O_CLOEXEC)
            return answer(fd < 0 ? 0 - errno : fd, path)
        }
    }

    private static func answer(_ fd: Int32, _ path: String) -> Result<Int32, SystemError> {
        fd < 0 ? .failure(SystemError("open", path, code: 0 - fd)) : .success(fd)
    }
}
