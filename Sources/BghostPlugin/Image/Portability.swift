// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a shared library needs of the machine on which it is loaded.
package struct Portability: Equatable, Sendable {
    /// The needed libraries besides those of glibc and of the compilers, which every machine has.
    package var otherLibraries: [String]
    /// The folders in which it has the loader search, as the file has them (RUNPATH and RPATH).
    package var searchFolders: [String]
    /// The newest version of each family of symbols that it needs of the system's libraries, such as `2.34`.
    package var versions: [Family: String]
    /// The size of its debug information, bytes.
    package var debugBytes: UInt64

    /// Symbols of one library of the system, whose versions count up together.
    package enum Family: String, CaseIterable, Sendable {
        case glibc = "GLIBC_"
        /// Those of libstdc++.
        case standardLibrary = "GLIBCXX_"
        /// What compilers of C++ call themselves, in libstdc++ too.
        case cxxABI = "CXXABI_"
    }

    private static let common = [
        "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
        "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1", "ld-linux-riscv64-lp64d.so.1",
    ]

    /// Reads the tables of a file, which may be for another machine; none of its code is run.
    package init(path: String) throws(ImageError) {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        let file = try BoundedFile(descriptor: descriptor, path: path)
        let layout = try ELFLayout(file, machine: nil)
        let dynamic = try DynamicTable(layout)
        otherLibraries = try dynamic.needed().filter { !Self.common.contains($0) }
        searchFolders = try dynamic.folders()
        let needs = try SymbolVersions(dynamic).needs.filter { !$0.isWeak }
        versions = Family.allCases.reduce(into: [:]) { versions, family in
            versions[family] = needs.filter { $0.version.hasPrefix(family.rawValue) }
                .map { String($0.version.dropFirst(family.rawValue.count)) }
                .max(by: Self.isOlder)
        }
        debugBytes = layout.sections.filter { $0.name.starts(with: ".debug_".utf8) }
            .reduce(0) { $0 &+ $1.size }
    }

    /// The needed version of a family, if it is newer than another one.
    package func version(of family: Family, newerThan other: String) -> String? {
        versions[family].flatMap { Self.isOlder(other, $0) ? $0 : nil }
    }

    private static func isOlder(_ one: String, _ other: String) -> Bool {
        numbers(one).lexicographicallyPrecedes(numbers(other))
    }

    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").map { Int($0) ?? 0 }
    }
}
