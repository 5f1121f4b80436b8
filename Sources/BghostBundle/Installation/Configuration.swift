// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// The folders into which bundles are installed: those beside a manifest.
package struct Configuration: Sendable {
    /// The absolute path of the manifest's folder.
    package let directory: String
    /// The folder of the plugins' files, as it is written into the manifest: relative to its folder, or
    /// absolute.
    package let pluginsFolder: String

    /// - Parameter pluginsFolder: an absolute path; `nil` is `plugins` beside the manifest.
    package init(directory: String, pluginsFolder: String? = nil) {
        self.directory = directory
        self.pluginsFolder = pluginsFolder ?? "plugins"
    }

    var dropIns: String { "\(directory)/tasks.d" }

    /// The absolute path of a folder or file that the manifest names.
    package func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }

    package func path(ofFragment name: String) -> String {
        "\(dropIns)/\(Fragment.file(of: name))"
    }

    /// Reads the drop-in of an installed bundle; `nil` if there is none.
    package func fragment(_ name: String) throws(BundleError) -> Fragment? {
        let path = path(ofFragment: name)
        switch SmallFile.read(path, bytesMax: 1 << 20) {
        case .success(let bytes): return try Fragment(bytes, path)
        case .failure(let error):
            if error.code == ENOENT { return nil }
            throw BundleError(error.description, fix: "make it readable")
        }
    }

    /// The names of the installed bundles, sorted.
    package func names() throws(BundleError) -> [String] {
        let files: [String]
        do throws(SystemError) {
            files = try FolderNames.of(dropIns)
        } catch {
            // Without the folder none is installed.
            if error.code == ENOENT { return [] }
            throw BundleError("cannot \(error.description)", fix: "make it readable")
        }
        return files.filter(Fragment.isFragment)
            .map { String($0.dropFirst("bundle-".count).dropLast(".json".count)) }
            .filter(BundleName.isName)
            .sorted()
    }

    /// Lets no other installation into these folders begin until the result is closed.
    ///
    /// It makes the folder of the drop-ins, if there is none.
    package func lock() throws(BundleError) -> InstallationLock {
        try Self.makeFolder(dropIns)
        let descriptor = LockFile.open("\(dropIns)/.bundles.lock")
        guard descriptor >= 0 else {
            guard descriptor == 0 - EAGAIN else {
                errno = 0 - descriptor
                throw DurableFile.failure("lock", dropIns)
            }
            throw BundleError(
                "another `bghost plugin` command is changing \(dropIns.quoted)",
                fix: "wait until it has ended, and try again"
            )
        }
        return InstallationLock(descriptor)
    }

    /// Makes a folder that all users can read and only its owner can write, whatever the umask.
    ///
    /// A folder that is there keeps its permissions.
    static func makeFolder(_ path: String) throws(BundleError) {
        if mkdir(path, 0o755) == 0 {
            try makeReadable(path)
        } else if errno != EEXIST {
            throw DurableFile.failure("make the folder", path)
        }
        try DurableFile.sync(folder: DurableFile.folder(of: path))
    }

    private static func makeReadable(_ path: String) throws(BundleError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw DurableFile.failure("open the folder", path) }
        defer { close(folder) }
        var facts = stat()
        // The group that its parent gives to new files stays.
        guard fstat(folder, &facts) == 0,
            fchmod(folder, facts.st_mode & 0o7000 | 0o755) == 0
        else { throw DurableFile.failure("set the permissions of", path) }
    }
}

/// The lock of an installation; released with this object.
package final class InstallationLock: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { LockFile.release(descriptor) }
}
