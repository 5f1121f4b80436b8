// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import BghostTrust
internal import Glibc

/// Finds the libraries that the loader loads with a plugin, without those of the system.
///
/// It lists files and not folders: the folders in a plugin's search path are untrusted, and could
/// include `/root`. A file counts only if it is a library that the plugin needs by this name,
/// without which the plugin cannot be loaded.
struct NeededLibraries {
    /// A library that other users could change, or too many libraries.
    struct Untrusted: Error {
        var message: String
    }

    private let trust: LibraryTrust
    private let budget: ImageBudget

    init(_ trust: LibraryTrust, _ budget: ImageBudget) {
        self.trust = trust
        self.budget = budget
    }

    private struct Image {
        var path: String
        var needs: NeededNames
        /// The folders in which the loader searches for what it needs.
        var searched: [String]
        /// Those that count for what these libraries need, too.
        var passedOn: [String]

        init(_ path: String, _ needs: NeededNames, neededBy parent: Image? = nil) {
            let inherited = parent?.passedOn ?? []
            self.path = path
            self.needs = needs
            searched = needs.hasRunPath ? needs.folders : needs.folders + inherited
            passedOn = needs.hasRunPath ? inherited : searched
        }
    }

    /// The needed libraries; each follows the libraries that it needs itself.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the plugin's library.
    ///   - held: its held copy, if there is one.
    func find(_ path: String, held: HeldLibrary?) throws -> [NeededLibrary] {
        let own = Image(path, try needs(of: path, held))
        var found = Found(paths: [path])
        try add(own, own, to: &found)
        return found.libraries
    }

    private struct Found {
        var paths: Set<String>
        var libraries: [NeededLibrary] = []
    }

    /// The recursion is at most as deep as the number of libraries, which is limited.
    private func add(_ image: Image, _ own: Image, to found: inout Found) throws {
        guard image.needs.names.count <= Self.namesMax else {
            throw Untrusted(message: "\(image.path) needs more than \(Self.namesMax) libraries")
        }
        for name in image.needs.names {
            guard let library = try find(name, for: image),
                found.paths.insert(library.path).inserted
            else { continue }
            guard found.paths.count <= Self.librariesMax else {
                throw Untrusted(
                    message:
                        "\(own.path) needs more than \(Self.librariesMax) libraries outside the"
                        + " system's folders"
                )
            }
            try add(library, own, to: &found)
            found.libraries.append(
                NeededLibrary(name: name, path: library.path, soname: library.needs.soname)
            )
        }
    }

    private func needs(of path: String, _ held: HeldLibrary?) throws(ImageError) -> NeededNames {
        guard let held else { return try NeededNames(path: path, budget: budget) }
        return try NeededNames(descriptor: held.descriptor, path: path, budget: budget)
    }

    /// Finds a library like the loader: in the folders of the library that needs it, then in those of the libraries
    /// that needed that one, as far as they pass them on.
    ///
    /// - Returns: `nil` if the library is in none of these folders, which means that it belongs to
    ///   the system.
    private func find(_ name: String, for image: Image) throws -> Image? {
        if name.contains("/") { return try findPath(name, for: image) }
        for folder in image.searched.prefix(Self.foldersMax) {
            guard !budget.isSpent else { throw ImageError(image.path, .overBudget) }
            guard !folder.contains("$") || trust.allowsUntrustedFiles else {
                throw Untrusted(
                    message:
                        "\(image.path) has its libraries searched for in `\(folder)`, whose `$` the"
                        + " loader replaces by what fits the machine; link it with the folder's name"
                )
            }
            guard folder.hasPrefix("/") else {
                try checkRelative(folder, name, for: image)
                continue
            }
            let file = folder + "/" + name
            let isThere = access(file, F_OK) == 0
            if Self.isSystem(folder) {
                if isThere { return nil }
                continue
            }
            try checkVariants(of: name, in: folder, for: image, besides: isThere)
            guard isThere, let needs = try needs(ofLibrary: file) else { continue }
            try check(file, neededBy: image.path)
            return Image(file, needs, neededBy: image)
        }
        return nil
    }

    /// Refuses a library in a relative folder: the loader takes it from below the current folder of the process, which
    /// is this one for a plugin in the daemon, and `/` for a worker.
    ///
    /// Such a folder alone is not refused: libraries that were taken from where CMake built them have empty ones.
    private func checkRelative(_ folder: String, _ name: String, for image: Image) throws(Untrusted)
    {
        let places = ["\(folder)/\(name)", "/\(folder)/\(name)"]
        let found = places.first { access($0, F_OK) == 0 && !Self.isSystem($0) }
        guard let found, !trust.allowsUntrustedFiles else { return }
        throw Untrusted(
            message:
                "\(image.path) has its libraries searched for in `\(folder)`, a folder that begins"
                + " wherever bghost is started, and \(found) is there; link it with -Wl,-rpath,$ORIGIN"
        )
    }

    /// Refuses a variant for newer processors, which the loader prefers, if it stands alone or others could change it.
    private func checkVariants(
        of name: String,
        in folder: String,
        for image: Image,
        besides isThere: Bool
    ) throws(Untrusted) {
        let variants = folder + "/glibc-hwcaps"
        guard access(variants, F_OK) == 0 else { return }
        for level in ["x86-64-v4", "x86-64-v3", "x86-64-v2"] {
            let file = "\(variants)/\(level)/\(name)"
            guard access(file, F_OK) == 0 else { continue }
            try check(file, neededBy: image.path)
            guard isThere || trust.allowsUntrustedFiles else {
                throw Untrusted(
                    message:
                        "\(image.path) needs \(file), which not every machine loads; put a plain \(name)"
                        + " into \(folder)"
                )
            }
        }
    }

    /// Reads the needs of a library.
    ///
    /// - Returns: `nil` if the file is not a library; the loader skips such a file.
    private func needs(ofLibrary file: String) throws(ImageError) -> NeededNames? {
        do throws(ImageError) {
            return try NeededNames(path: file, budget: budget)
        } catch {
            guard case .overBudget = error.problem else { return nil }
            throw error
        }
    }

    /// Resolves a library that is needed by path; the loader loads it from there.
    private func findPath(_ name: String, for image: Image) throws -> Image? {
        guard name.hasPrefix("/") else {
            guard trust.allowsUntrustedFiles else {
                throw Untrusted(
                    message: "\(image.path) needs `\(name)`, a path that begins wherever bghost is"
                        + " started; link that library by its name"
                )
            }
            return nil
        }
        guard access(name, F_OK) == 0, !Self.isSystem(name) else { return nil }
        let needs = try NeededNames(path: name, budget: budget)
        try check(name, neededBy: image.path)
        return Image(name, needs, neededBy: image)
    }

    private func check(_ file: String, neededBy image: String) throws(Untrusted) {
        do throws(TrustError) {
            try trust.checkPlace(file)
        } catch {
            throw Untrusted(message: "\(image) needs \(file), and \(error)")
        }
    }

    /// Whether a path is in one of the system's library folders, which only root can change.
    static func isSystem(_ path: String) -> Bool {
        guard !path.contains("/../") else { return false }
        return systemFolders.contains { path.hasPrefix($0 + "/") || path == $0 }
    }

    private static let systemFolders = ["/usr/lib", "/usr/lib64", "/usr/libx32", "/lib", "/lib64"]
    private static let namesMax = 256
    private static let foldersMax = 32
    private static let librariesMax = 128
}
