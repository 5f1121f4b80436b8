// SPDX-License-Identifier: Apache-2.0

/// The functions of an extension of the host.
///
/// A host of an earlier minor has a shorter table than this package was compiled with, so each function is looked for
/// within the size that the host gives. Any thread may use it at any time.
@dynamicMemberLookup package struct ExtensionTable<Table>: @unchecked Sendable {
    // The host never changes or frees it, as with its main table.
    private let start: UnsafeRawPointer

    /// - Parameter start: a table of the host, which begins with its size.
    package init(_ start: UnsafeRawPointer) {
        self.start = start
    }

    /// A function of the table; `nil` if the host lacks it.
    package subscript<Function>(dynamicMember path: KeyPath<Table, Function?>) -> Function? {
        guard let offset = MemoryLayout<Table>.offset(of: path),
            offset + MemoryLayout<Function?>.size <= Int(start.load(as: UInt32.self))
        else { return nil }
        return start.load(fromByteOffset: offset, as: Function?.self)
    }
}
