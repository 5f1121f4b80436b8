// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import BghostTrust

/// The state of a plugin's files at one time.
struct FileSnapshot: Equatable, Sendable {
    /// The plugin's library; `nil` if the file does not exist.
    var library: FileIdentity?
    /// The needed libraries outside the system's folders, by path.
    var needed: [String: FileIdentity] = [:]
}

/// The findings of an inspection of a plugin's files.
struct PluginFindings: Sendable {
    /// The reason why the plugin cannot be used.
    struct Problem: Sendable {
        var message: String
        /// Whether it concerns the location or the ownership of files, which their contents do not show.
        var isAboutPlace = false
    }

    var dataDirectory = ""
    /// The path of the library.
    var path: String?
    var files = FileSnapshot()
    /// The held copy of the library, if exactly the inspected bytes must be loaded.
    var held: HeldLibrary?
    /// The needed libraries outside the system's folders, in loading order.
    var libraries: [NeededLibrary] = []
    /// The SHA-256 of the library if it was requested and could be read, else "".
    var sha256 = ""
    var problem: Problem?
    /// Whether events report changes of these files.
    var isWatched = true

    /// The held copies of the library and of its needed libraries; empty if the library is not held.
    var allHeld: [HeldLibrary] {
        guard let held else { return [] }
        return [held] + libraries.compactMap(\.held)
    }
}

/// A library that a plugin needs.
struct NeededLibrary: Sendable {
    /// The name by which the plugin needs it.
    var name: String
    var path: String
    /// The name in the library itself.
    var soname: String?
    /// The held copy, if the manifest requires one.
    var held: HeldLibrary?
}
