// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// The folder with the versions of one bundle, which names the manifest that it belongs to.
///
/// An operator chooses where it is, and the bundle's author chooses its name: it can be a folder with
/// other files, or one that another manifest uses. So only what an installation made is ever removed:
/// folders of versions, in a folder with a file that says whose they are.
struct VersionFolders {
    /// The folder: that of the plugins, with the name of the bundle.
    let path: String
    private let name: String
    private let configuration: Configuration

    /// The file that names the folder of the manifest.
    private static let owner = ".installed-for"
    private static let ownerDraft = ".installed-for.new"
    /// The next version, until it is complete.
    private static let draftName = ".new"
    /// Of the digest of a bundle, in the name of a version's folder.
    static let digestCount = 12

    init(_ fragment: Fragment, _ configuration: Configuration) {
        path = DurableFile.folder(of: configuration.absolute(fragment.folder))
        name = fragment.name
        self.configuration = configuration
    }

    /// Those of a bundle that may not be installed.
    init(of name: String, _ configuration: Configuration) {
        path = configuration.absolute("\(configuration.pluginsFolder)/\(name)")
        self.name = name
        self.configuration = configuration
    }

    var draft: String { "\(path)/\(Self.draftName)" }

    // MARK: The owner

    /// Throws if the folder has files of others; changes nothing.
    ///
    /// - Parameter installed: the drop-in that is there; `nil` if there is none.
    func requireOwn(_ installed: Fragment?) throws(BundleError) {
        if let directory = owner, directory != ownDirectory {
            guard isUsed(by: directory) else { return }
            throw BundleError(
                "\(path.quoted) has \(name) for the manifest in \(directory.quoted)",
                fix: "name another folder with --folder: two manifests cannot share one"
            )
        }
        guard owner == nil, installed.map(isHere) != true else { return }
        // Interrupted installations leave no more than these before they name the owner.
        let others = try names().filter { ![Self.ownerDraft, Self.draftName].contains($0) }
        guard others.isEmpty else {
            throw BundleError(
                "\(path.quoted) is there, and no bundle of this manifest has made it",
                fix: "move it away, or name another folder with --folder"
            )
        }
    }

    /// Makes the folder, and writes into it whose it is.
    func claim(_ installed: Fragment?) throws(BundleError) {
        try Configuration.makeFolder(DurableFile.folder(of: path))
        try Configuration.makeFolder(path)
        try requireOwn(installed)
        guard owner != ownDirectory else { return }
        let line = Array((ownDirectory + "\n").utf8)
        try DurableFile.replace("\(path)/\(Self.owner)", beside: "\(path)/\(Self.ownerDraft)") {
            (file: borrowing DurableFile) throws(BundleError) in try file.write(line)
        }
    }

    /// Whether an installation of this manifest has named the folder its own.
    var isOwn: Bool { owner == ownDirectory }

    /// Whether it names no owner, as before installations wrote one: the last one then had it alone.
    fileprivate var hasNoOwner: Bool { owner == nil }

    private var owner: String? {
        // A file that cannot be read names no owner: the folder counts as one of others.
        guard let bytes = try? SmallFile.read("\(path)/\(Self.owner)", bytesMax: 8192).get() else {
            return nil
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// By one name, whatever links lead to it.
    private var ownDirectory: String { Self.resolved(configuration.directory) }

    private static func resolved(_ path: String) -> String {
        guard let text = realpath(path, nil) else { return path }
        defer { free(text) }
        return String(cString: text)
    }

    /// Whether another manifest has a drop-in that names this folder; it may have been moved or removed.
    private func isUsed(by directory: String) -> Bool {
        let other = Configuration(directory: directory)
        do throws(BundleError) {
            guard let fragment = try other.fragment(name) else { return false }
            let folder = DurableFile.folder(of: other.absolute(fragment.folder))
            return Self.resolved(folder) == Self.resolved(path)
        } catch {
            // In doubt the files are still needed.
            return true
        }
    }

    private func isHere(_ fragment: Fragment) -> Bool {
        DurableFile.folder(of: configuration.absolute(fragment.folder)) == path
    }

    // MARK: Removing

    /// Removes the versions but those named, and what an interrupted installation left.
    ///
    /// Without a version and without files of others, the folder goes too. What cannot be removed stays.
    func remove(except kept: [String] = []) {
        // A folder that cannot be read has nothing that could be removed.
        guard let names = try? names() else { return }
        for entry in names where isVersion(entry) && !kept.contains(entry) {
            FileTree.remove("\(path)/\(entry)")
        }
        FileTree.remove(draft)
        removeIfUnused()
    }

    /// Removes the folder if no version is in it, and no file of others.
    func removeIfUnused() {
        // A folder that cannot be read is not removed.
        guard let left = try? names(), !left.contains(where: isVersion) else { return }
        unlink("\(path)/\(Self.ownerDraft)")
        unlink("\(path)/\(Self.owner)")
        rmdir(path)
    }

    /// Whether a name is that of a version's folder: `1.2.0-0123456789ab`.
    private func isVersion(_ entry: String) -> Bool {
        guard let hyphen = entry.lastIndex(of: "-") else { return false }
        let digest = entry[entry.index(after: hyphen)...].utf8
        return BundleName.isVersion(String(entry[..<hyphen]))
            && digest.count == Self.digestCount
            && digest.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    private func names() throws(BundleError) -> [String] {
        do throws(SystemError) {
            return try FolderNames.of(path)
        } catch {
            if error.code == ENOENT { return [] }
            throw BundleError("cannot \(error.description)", fix: "check the permissions there")
        }
    }
}

extension Fragment {
    /// Removes the bundle: first its drop-in, which the manifest reads, then its files.
    ///
    /// The caller holds the lock of the configuration. It waits for the disk.
    package func remove(from configuration: Configuration) throws(BundleError) {
        let path = configuration.path(ofFragment: name)
        guard unlink(path) == 0 else { throw DurableFile.failure("remove", path) }
        try DurableFile.sync(folder: DurableFile.folder(of: path))
        FileTree.remove(configuration.absolute(folder))
        let versions = VersionFolders(self, configuration)
        if versions.isOwn || versions.hasNoOwner { versions.remove() }
    }
}

extension Configuration {
    /// Removes the files of a bundle whose drop-in is gone: a removal was interrupted.
    ///
    /// The caller holds the lock. It waits for the disk.
    ///
    /// - Returns: whether there were some.
    package func removeLeftovers(of name: String) -> Bool {
        let versions = VersionFolders(of: name, self)
        guard versions.isOwn else { return false }
        versions.remove()
        return true
    }
}
