// SPDX-License-Identifier: Apache-2.0

package import BghostPlugin
package import BghostSchemas
package import BghostTrust

/// The state of a plugin's files at one time.
package struct FileSnapshot: Equatable, Sendable {
    /// The plugin's library; `nil` if the file does not exist.
    package var library: FileIdentity?
    /// The needed libraries outside the system's folders, by path.
    package var needed: [String: FileIdentity] = [:]

    package init() {}
}

/// The findings of an inspection of a plugin's files.
package struct PluginFindings: Sendable {
    /// The reason why the plugin cannot be used.
    package struct Problem: Sendable {
        package var message: String
        /// Whether it concerns the location or the ownership of files, which their contents do not show.
        package var isAboutPlace = false

        package init(message: String, isAboutPlace: Bool = false) {
            self.message = message
            self.isAboutPlace = isAboutPlace
        }
    }

    package var dataDirectory = ""
    /// The path of the library.
    package var path: String?
    package var files = FileSnapshot()
    /// The held copy of the library, if exactly the inspected bytes must be loaded.
    package var held: HeldLibrary?
    /// The needed libraries outside the system's folders, in loading order.
    package var libraries: [NeededLibrary] = []
    /// The SHA-256 of the library if it was requested and could be read, else "".
    package var sha256 = ""
    package var problem: Problem?
    /// Whether the plugin's note asks the host to check parameters against the schemas of its table.
    package var checksParameters = false
    /// The schemas of its table; `nil` if it was not loaded.
    package var schemas: HandlerSchemas?
    /// Whether events report changes of these files.
    package var isWatched = true

    package init(problem: Problem? = nil) {
        self.problem = problem
    }

    /// The held copies of the library and of its needed libraries; empty if the library is not held.
    var allHeld: [HeldLibrary] {
        guard let held else { return [] }
        return [held] + libraries.compactMap(\.held)
    }
}

/// A library that a plugin needs.
package struct NeededLibrary: Sendable {
    /// The name by which the plugin needs it.
    var name: String
    package var path: String
    /// The name in the library itself.
    var soname: String?
    /// The held copy, if the manifest requires one.
    package var held: HeldLibrary?
}
