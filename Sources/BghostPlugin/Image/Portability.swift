// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a shared library needs of the machine on which it is loaded.
package struct Portability: Equatable, Sendable {
    /// The needed libraries besides those of glibc and of the compilers, which every machine has.
    package var otherLibraries: [String]
    /// The folders in which it has the loader search, as the file has them (RUNPATH and RPATH).
    package var searchFolders: [String]
    /// The newest version of glibc whose symbols it needs, such as `2.34`; `nil` if it needs none.
    package var glibc: String?
    /// The size of its debug information, bytes.
    package var debugBytes: UInt64

    private static let common = [
        "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
        "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1", "ld-linux-riscv64-lp64d.so.1",
    ]

    /// Reads the tables of a file; none of its code is run.
    package init(path: String) throws(ImageError) {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        let layout = try ELFLayout(BoundedFile(descriptor: descriptor, path: path))
        let dynamic = try DynamicTable(layout)
        otherLibraries = try dynamic.needed().filter { !Self.common.contains($0) }
        searchFolders = try dynamic.folders()
        let prefix = "GLIBC_"
        glibc = try SymbolVersions(dynamic).needs
            .filter { !$0.isWeak && $0.version.hasPrefix(prefix) }
            .map { String($0.version.dropFirst(prefix.count)) }
            .max { Self.numbers($0).lexicographicallyPrecedes(Self.numbers($1)) }
        debugBytes = layout.sections.filter { $0.name.starts(with: ".debug_".utf8) }
            .reduce(0) { $0 &+ $1.size }
    }

    /// Whether the needed version of glibc is newer than another one.
    package func isNewer(than version: String) -> Bool {
        guard let glibc else { return false }
        return Self.numbers(version).lexicographicallyPrecedes(Self.numbers(glibc))
    }

    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").map { Int($0) ?? 0 }
    }
}
