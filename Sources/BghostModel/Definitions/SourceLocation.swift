// SPDX-License-Identifier: Apache-2.0

/// A place in a manifest.
///
/// Lines and columns count from 1; columns count characters.
package struct SourceLocation: Equatable, Hashable, Sendable {
    package var file: String
    package var line: Int
    package var column: Int

    /// Creates a location; the default means "no place", as for a definition in code.
    package init(file: String = "", line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }
}
