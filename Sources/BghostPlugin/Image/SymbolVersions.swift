// SPDX-License-Identifier: Apache-2.0

/// The symbol versions that a library defines, and those that it needs from other libraries.
///
/// The loader refuses a library if a needed version is missing, such as `GLIBC_2.38` on an older
/// system.
struct SymbolVersions {
    struct Need {
        /// The needed library, as `DT_NEEDED` names it.
        let library: String
        let version: String
        let isWeak: Bool
    }

    private enum Tag {
        static let defined: UInt64 = 0x6FFF_FFFC
        static let needed: UInt64 = 0x6FFF_FFFE
    }

    /// The limit for one library; glibc has about forty.
    private static let entriesMax = 4096
    /// The flag of a version that may be missing.
    private static let weak: UInt16 = 2

    /// Empty if the library has no versions; the loader then accepts it for any version.
    private(set) var defined: Set<String> = []
    private(set) var needs: [Need] = []

    init(_ dynamic: DynamicTable) throws(ImageError) {
        if let address = dynamic[Tag.defined] { try readDefined(dynamic, at: address) }
        if let address = dynamic[Tag.needed] { try readNeeds(dynamic, at: address) }
    }

    private mutating func readDefined(
        _ dynamic: DynamicTable,
        at start: UInt64
    ) throws(ImageError) {
        var address = start
        for _ in 0..<Self.entriesMax {
            let entry = try dynamic.layout.read("its versions", address: address, count: 20)
            let name = try dynamic.layout.read(
                "its versions",
                address: address + entry.offset(at: 12),
                count: 4
            )
            // The first name of an entry is its own; the others are those of its parents.
            defined.insert(try dynamic.version(name.integer(at: 0)))
            let next = entry.offset(at: 16)
            guard next > 0 else { return }
            address += next
        }
    }

    private mutating func readNeeds(
        _ dynamic: DynamicTable,
        at start: UInt64
    ) throws(ImageError) {
        let part = "the versions that it needs"
        var address = start
        for _ in 0..<Self.entriesMax {
            let entry = try dynamic.layout.read(part, address: address, count: 16)
            let library = try dynamic.version(entry.integer(at: 4))
            var named = address + entry.offset(at: 8)
            for _ in 0..<(entry.integer(at: 2, as: UInt16.self) ?? 0) {
                guard needs.count < Self.entriesMax else {
                    throw dynamic.malformed("it needs more than \(Self.entriesMax) versions")
                }
                let name = try dynamic.layout.read(part, address: named, count: 16)
                let flags: UInt16 = name.integer(at: 4) ?? 0
                let version = try dynamic.version(name.integer(at: 8))
                needs.append(
                    Need(library: library, version: version, isWeak: flags & Self.weak != 0)
                )
                named += name.offset(at: 12)
            }
            let next = entry.offset(at: 12)
            guard next > 0 else { return }
            address += next
        }
    }
}

extension FileBytes {
    /// A distance to another entry.
    ///
    /// It has 32 bits, so that a sum of two does not overflow.
    fileprivate func offset(at index: Int) -> UInt64 {
        UInt64(integer(at: index, as: UInt32.self) ?? 0)
    }
}

extension DynamicTable {
    fileprivate func version(_ name: UInt32?) throws(ImageError) -> String {
        guard let name else { return "" }
        return try text(at: UInt64(name))
    }
}
