// SPDX-License-Identifier: Apache-2.0

/// A place in a manifest. Lines and columns count from 1; columns count characters.
public struct SourceLocation: Equatable, Hashable, Sendable {
    public var file: String
    public var line: Int
    public var column: Int

    /// The default stands for "no place", as for a definition made in code.
    public init(file: String = "", line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }
}
