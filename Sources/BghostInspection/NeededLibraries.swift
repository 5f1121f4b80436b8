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
    }

    /// The needed libraries; each follows the libraries that it needs itself.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the plugin's library.
    ///   - held: its held copy, if there is one.
    func find(_ path: String, held: HeldLibrary?) throws -> [NeededLibrary] {
        let own = Image(path: path, needs: try needs(of: path, held))
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
            guard let library = try find(name, for: image, own),
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

    /// Finds a library like the loader: in the folders of the library that needs it, then in the plugin's.
    ///
    /// - Returns: `nil` if the library is in none of these folders, which means that it belongs to
    ///   the system.
    private func find(_ name: String, for image: Image, _ own: Image) throws -> Image? {
        if name.contains("/") { return try findPath(name, for: image) }
        for folder in (image.needs.folders + own.needs.folders).prefix(Self.foldersMax) {
            guard !budget.isSpent else { throw ImageError(image.path, .overBudget) }
            let file = folder + "/" + name
            guard access(file, F_OK) == 0 else { continue }
            if Self.isSystem(folder) { return nil }
            guard let needs = try needs(ofLibrary: file) else { continue }
            try check(file, neededBy: image.path)
            return Image(path: file, needs: needs)
        }
        return nil
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
        return Image(path: name, needs: needs)
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
