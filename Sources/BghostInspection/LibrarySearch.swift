// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The rules for finding a plugin's library.
package struct LibrarySearch {
    /// No candidate path of a library exists.
    struct NotFound: Error, CustomStringConvertible {
        let library: String
        let candidates: [String]

        var description: String {
            "`\(library)` is not there; looked for \(candidates.joined(separator: ", ")). Put it there,"
                + " or correct `library`"
        }
    }

    package let pluginPath: [String]
    package let manifestDirectory: String

    package init(pluginPath: [String], manifestDirectory: String) {
        self.pluginPath = pluginPath
        self.manifestDirectory = manifestDirectory
    }

    /// The paths at which a library may be, in search order.
    func candidates(_ library: String) -> [String] {
        if library.hasPrefix("/") { return [library] }
        if library.contains("/") { return ["\(manifestDirectory)/\(library)"] }
        return pluginPath.map { "\($0)/\(library)" }
    }

    /// The first candidate that exists.
    func find(_ library: String) throws(NotFound) -> String {
        let candidates = candidates(library)
        guard let found = candidates.first(where: { access($0, F_OK) == 0 }) else {
            throw NotFound(library: library, candidates: candidates)
        }
        return found
    }
}
