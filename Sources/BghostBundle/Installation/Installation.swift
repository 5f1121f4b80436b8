// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostTrust
internal import Glibc

/// The steps that install a bundle, or the next version of one.
///
/// The files of a version are in a folder of their own, which the manifest does not name until the last
/// step renames its drop-in. Until then there is the old state, and from then on the new one, also
/// after a power cut. What an interrupted installation leaves is removed by the next one, and nothing
/// else: see `VersionFolders`.
///
/// The caller holds the lock of the configuration, on one thread; each step waits for the disk.
package struct Installation: Sendable {
    package let fragment: Fragment
    private let bundle: Bundle
    private let configuration: Configuration
    private let versions: VersionFolders
    private let installed: Fragment?
    /// Whether these very files are installed, and none of them is missing or was changed.
    private let isPresent: Bool

    /// The number of steps before the last one.
    package var preparations: Int { steps.count }

    /// - Parameter installed: the drop-in that is there; `nil` if there is none.
    package init(
        _ bundle: Bundle,
        _ fragment: Fragment,
        _ configuration: Configuration,
        replacing installed: Fragment?
    ) {
        self.bundle = bundle
        self.fragment = fragment
        self.configuration = configuration
        self.installed = installed
        versions = VersionFolders(fragment, configuration)
        // The folder's name has the digest of the list, so it is that of these files.
        isPresent =
            installed?.folder == fragment.folder
            && Self.members(bundle, fragment).allSatisfy { member in
                let path = "\(configuration.absolute(fragment.folder))/\(member.name)"
                return LibraryDigest.sha256(path: path) == member.sha256
            }
    }

    /// Whether nothing is to be done.
    package var isDone: Bool { isPresent && installed == fragment }

    /// Throws if the files would get into a folder that has others; changes nothing.
    package func requireFolder() throws(BundleError) { try versions.requireOwn(installed) }

    /// The absolute path of the library once it is installed.
    package var library: String { "\(folder)/\(fragment.library)" }

    private var folder: String { configuration.absolute(fragment.folder) }
    private var draft: String { versions.draft }

    /// Makes the files; a manifest does not name them yet.
    package func prepare() throws(BundleError) {
        for step in 0..<preparations { try perform(step) }
    }

    /// Makes one step of the preparation.
    package func perform(_ step: Int) throws(BundleError) { try run(steps[step]) }

    /// Writes the drop-in: from now on the bundle is installed.
    ///
    /// - Parameter library: the library of another version that the manifest goes on to name.
    package func commit(keeping library: String? = nil) throws(BundleError) {
        let path = configuration.path(ofFragment: fragment.name)
        let draft = "\(configuration.dropIns)/.\(fragment.file).new"
        try DurableFile.replace(path, beside: draft) {
            (file: borrowing DurableFile) throws(BundleError) in
            try file.write(fragment.bytes)
        }
        // The version before this one stays until the next installation: a daemon that has not reloaded
        // still has it.
        var kept = [fragment, installed].compactMap(\.self).map {
            DurableFile.name(of: $0.folder)
        }
        if let library { kept += library.split(separator: "/").map(String.init) }
        versions.remove(except: kept)
    }

    /// Removes the files of a preparation that is not followed by `commit`.
    package func abandon() {
        // In a folder of others nothing was prepared.
        guard !isPresent, versions.isOwn else { return }
        FileTree.remove(draft)
        // Repaired files of the installed version are better than none.
        if installed?.folder != fragment.folder { FileTree.remove(folder) }
        versions.removeIfUnused()
    }

    // MARK: Steps

    private enum Step {
        case makeFolders
        case makeDraft
        case write(Bundle.Member)
        case nameDraft
    }

    /// The members that are installed: of the libraries only that for this machine.
    private static func members(_ bundle: Bundle, _ fragment: Fragment) -> [Bundle.Member] {
        bundle.members.filter {
            guard case .library = $0.member else { return true }
            return $0.name == fragment.library
        }
    }

    private var steps: [Step] {
        guard !isPresent else { return [] }
        let members = Self.members(bundle, fragment)
        return [.makeFolders, .makeDraft] + members.map { .write($0) } + [.nameDraft]
    }

    private func run(_ step: Step) throws(BundleError) {
        switch step {
        case .makeFolders: try versions.claim(installed)
        case .makeDraft:
            FileTree.remove(draft)
            try Configuration.makeFolder(draft)
        case .write(let member): try write(member)
        case .nameDraft:
            // Of an interrupted installation, or damaged.
            FileTree.remove(folder)
            guard rename(draft, folder) == 0 else {
                throw DurableFile.failure("rename the folder", draft)
            }
            try DurableFile.sync(folder: versions.path)
        }
    }

    private func write(_ member: Bundle.Member) throws(BundleError) {
        var folder = draft
        let parts = member.name.split(separator: "/")
        for part in parts.dropLast() {
            folder += "/\(part)"
            try Configuration.makeFolder(folder)
        }
        let file = try DurableFile(creating: "\(draft)/\(member.name)")
        var place = 0
        while place < member.count {
            let count = min(256 << 10, member.count - place)
            try file.write(try bundle.source.read(at: member.offset + place, count: count))
            place += count
        }
        try file.sync()
        try DurableFile.sync(folder: folder)
    }
}
