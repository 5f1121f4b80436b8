// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Opens files at untrusted paths.
package enum ConfinedFile {
    /// Opens a path below a folder for reading.
    ///
    /// Neither links nor `..` can lead out of the folder.
    package static func open(_ path: String, below folder: String) -> Result<Int32, SystemError> {
        let fd = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard fd >= 0 else { return .failure(SystemError("open", folder, code: errno)) }
        defer { close(fd) }
        return answer(bgs_open_beneath(fd, path), path)
    }

    /// Opens exactly this path for reading; fails if it is a link.
    package static func open(_ path: String) -> Result<Int32, SystemError> {
        let fd = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        return answer(fd < 0 ? 0 - errno : fd, path)
    }

    private static func answer(_ fd: Int32, _ path: String) -> Result<Int32, SystemError> {
        fd < 0 ? .failure(SystemError("open", path, code: 0 - fd)) : .success(fd)
    }
}
