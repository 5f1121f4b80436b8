// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// The steps that install a bundle, or the next version of one.
///
/// The files of a version are in a folder of their own, which the manifest does not name until the last
/// step renames its drop-in. Until then there is the old state, and from then on the new one, also
/// after a power cut. What an interrupted installation leaves is removed by the next one.
///
/// The caller holds the lock of the configuration, on one thread; each step waits for the disk.
package struct Installation: Sendable {
    package let fragment: Fragment
    private let bundle: Bundle
    private let configuration: Configuration
    /// Whether the installed version has the same files.
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
        // The folder's name has the digest of the list, so it is that of these files.
        isPresent = installed?.folder == fragment.folder
    }

    /// The absolute path of the library once it is installed.
    package var library: String { "\(folder)/\(fragment.library)" }

    private var folder: String { configuration.absolute(fragment.folder) }
    /// The folder with all versions of the plugin.
    private var versions: String { DurableFile.folder(of: folder) }
    private var draft: String { "\(versions)/.new" }

    /// Makes the files; a manifest does not name them yet.
    package func prepare() throws(BundleError) {
        for step in 0..<preparations { try perform(step) }
    }

    /// Makes one step of the preparation.
    package func perform(_ step: Int) throws(BundleError) { try run(steps[step]) }

    /// Writes the drop-in: from now on the bundle is installed.
    package func commit() throws(BundleError) {
        let path = configuration.path(ofFragment: fragment.name)
        let draft = "\(configuration.dropIns)/.\(fragment.file).new"
        try DurableFile.replace(path, beside: draft) {
            (file: borrowing DurableFile) throws(BundleError) in
            try file.write(fragment.bytes)
        }
    }

    /// Removes the files of a preparation that is not followed by `commit`.
    package func abandon() {
        guard !isPresent else { return }
        FileTree.remove(draft)
        FileTree.remove(folder)
        rmdir(versions)
    }

    // MARK: Steps

    private enum Step {
        case makeFolders
        case removeLeftovers
        case makeDraft
        case write(Bundle.Member)
        case nameDraft
    }

    /// The members that are installed: of the libraries only that for this machine.
    private var members: [Bundle.Member] {
        bundle.members.filter {
            guard case .library = $0.member else { return true }
            return $0.name == fragment.library
        }
    }

    private var steps: [Step] {
        isPresent
            ? []
            : [.makeFolders, .removeLeftovers, .makeDraft] + members.map { .write($0) } + [
                .nameDraft
            ]
    }

    private func run(_ step: Step) throws(BundleError) {
        switch step {
        case .makeFolders:
            try Configuration.makeFolder(DurableFile.folder(of: versions))
            try Configuration.makeFolder(versions)
        case .removeLeftovers: try removeLeftovers()
        case .makeDraft: try Configuration.makeFolder(draft)
        case .write(let member): try write(member)
        case .nameDraft:
            guard rename(draft, folder) == 0 else {
                throw DurableFile.failure("rename the folder", draft)
            }
            try DurableFile.sync(folder: versions)
        }
    }

    /// Removes what earlier installations left, and old versions.
    ///
    /// The version before this one stays until the next installation: a daemon that has not reloaded
    /// still has it.
    private func removeLeftovers() throws(BundleError) {
        let present = try configuration.fragment(fragment.name).map {
            DurableFile.name(of: $0.folder)
        }
        do throws(SystemError) {
            for name in try FolderNames.of(versions) where name != present {
                FileTree.remove("\(versions)/\(name)")
            }
        } catch {
            throw BundleError("cannot \(error.description)", fix: "check the permissions there")
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

extension Fragment {
    /// Removes the bundle: first its drop-in, which the manifest reads, then its files.
    ///
    /// The caller holds the lock of the configuration. It waits for the disk.
    package func remove(from configuration: Configuration) throws(BundleError) {
        let path = configuration.path(ofFragment: name)
        guard unlink(path) == 0 else { throw DurableFile.failure("remove", path) }
        try DurableFile.sync(folder: DurableFile.folder(of: path))
        FileTree.remove(DurableFile.folder(of: configuration.absolute(folder)))
    }
}
