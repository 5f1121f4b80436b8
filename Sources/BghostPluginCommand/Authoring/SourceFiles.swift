// SPDX-License-Identifier: Apache-2.0

/// Which files of a plugin's folder are its sources.
enum SourceFiles {
    /// Folders in which builds of the usual tools put what they make.
    private static let outputFolders: Set<String> = [
        "build", "target", "node_modules", "__pycache__",
    ]
    /// What builds make beside the sources.
    private static let outputSuffixes = [
        ".so", ".o", ".a", ".d", ".bghost", ".bghost.minisig", ".pyc", ".tmp",
    ]

    /// Whether a change of a file counts, or a folder is looked into.
    ///
    /// Hidden files are those of tools (`.build`, `.git`) and editors (`.main.c.swp`).
    static func have(_ name: String, isFolder: Bool) -> Bool {
        guard !name.hasPrefix("."), !name.isEmpty else { return false }
        if isFolder { return !outputFolders.contains(name) }
        // The last two are what Vim and Emacs write to try whether they may.
        guard !name.hasSuffix("~"), name != "4913", !name.hasPrefix("#") else { return false }
        return !outputSuffixes.contains { name.hasSuffix($0) }
    }
}
