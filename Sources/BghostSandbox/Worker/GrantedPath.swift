// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// A granted path that is open: whatever changes meanwhile, the grant is of this file or folder.
struct GrantedPath {
    let fd: Int32
    let isFolder: Bool

    /// Opens what a grant names; `nil` if it is not there, or if a plugin could have put a link on its way.
    ///
    /// The caller closes it.
    init?(_ grant: SandboxProfile.Grant, among trees: WritableTrees) {
        // Only the manifest grants paths that plugins could write; the others are the system's.
        let isGuarded = grant.access.contains(.named)
        func open(_ flags: Int32) -> Result<Int32, SystemError> {
            let flags = flags | WritableTrees.pathOnly
            guard !isGuarded else { return trees.open(grant.path, flags) }
            let fd = Glibc.open(grant.path, flags | O_CLOEXEC)
            return fd < 0
                ? .failure(SystemError("open", grant.path, code: errno)) : .success(fd)
        }
        // With this flag the kernel mounts what is to be mounted there at the first use.
        var found = open(O_DIRECTORY)
        var isFolder = true
        if case .failure(let error) = found, error.code == ENOTDIR {
            isFolder = false
            found = open(0)
        }
        guard case .success(let fd) = found else { return nil }
        self.fd = fd
        self.isFolder = isFolder
    }

    /// The path of a grant without links; `nil` as above.
    static func resolved(_ grant: SandboxProfile.Grant, among trees: WritableTrees) -> String? {
        do {
            let isGuarded = grant.access.contains(.named)
            return try (isGuarded ? trees : WritableTrees()).resolved(grant.path)
        } catch {
            // The grant is left out, and reported.
            return nil
        }
    }
}
