// SPDX-License-Identifier: Apache-2.0

/// The dynamic section of an ELF file: the libraries that it needs, its flags, and the place of its
/// symbols.
struct DynamicTable {
    enum Tag {
        static let null: UInt64 = 0
        static let needed: UInt64 = 1
        static let hash: UInt64 = 4
        static let strings: UInt64 = 5
        static let symbols: UInt64 = 6
        static let stringsSize: UInt64 = 10
        static let symbolSize: UInt64 = 11
        static let soname: UInt64 = 14
        static let rpath: UInt64 = 15
        static let runpath: UInt64 = 29
        static let textRelocations: UInt64 = 22
        static let flags: UInt64 = 30
        static let gnuHash: UInt64 = 0x6FFF_FEF5
        static let flags1: UInt64 = 0x6FFF_FFFB
        /// DT_AUXILIARY and DT_FILTER.
        static let filters: Set<UInt64> = [0x7FFF_FFFD, 0x7FFF_FFFF]
    }

    private static let entriesMax = 4096
    private static let entryBytes: UInt64 = 16
    /// Sixteen times the size in the largest libraries of a Swift toolchain.
    static let stringsBytesMax: UInt64 = 16 << 20
    private static let textBytesMax: UInt64 = 255
    private static let foldersBytesMax: UInt64 = 16 << 10

    let layout: ELFLayout
    private var entries: [(tag: UInt64, value: UInt64)] = []
    private var stringsAddress: UInt64 = 0
    private var stringsBytes: UInt64 = 0

    init(_ layout: ELFLayout) throws(ImageError) {
        self.layout = layout
        let segments = layout.segments(of: ELFLayout.SegmentType.dynamic)
        guard segments.count == 1, let segment = segments.first else {
            throw malformed("it has \(segments.count) dynamic sections instead of one")
        }
        let count = segment.fileBytes / Self.entryBytes
        guard count > 0, count <= Self.entriesMax else {
            throw malformed("its dynamic section has \(segment.fileBytes) bytes")
        }
        // Read by address, not by offset, as the loader does.
        let table = try layout.read(
            "the dynamic section",
            address: segment.address,
            count: count * Self.entryBytes
        )
        for index in 0..<Int(count) {
            let tag: UInt64 = table.integer(at: index * 16) ?? 0
            guard tag != Tag.null else { break }
            entries.append((tag, table.integer(at: index * 16 + 8) ?? 0))
        }
        guard let address = self[Tag.strings], let size = self[Tag.stringsSize],
            self[Tag.symbols] != nil
        else {
            throw malformed("its dynamic section names no symbols")
        }
        guard self[Tag.symbolSize] == nil || self[Tag.symbolSize] == 24 else {
            throw malformed("its symbols have an unknown size")
        }
        guard size <= Self.stringsBytesMax, !address.addingReportingOverflow(size).overflow else {
            throw malformed("the names of its symbols have \(size) bytes")
        }
        stringsAddress = address
        stringsBytes = size
    }

    /// Reads the names of all symbols.
    func readStrings() throws(ImageError) -> FileBytes {
        try layout.read(
            "the names of its symbols",
            address: stringsAddress,
            count: stringsBytes
        )
    }

    /// The value of the last entry with a tag, which is the one that counts.
    subscript(tag: UInt64) -> UInt64? { entries.last { $0.tag == tag }?.value }

    func needed() throws(ImageError) -> [String] {
        var names: [String] = []
        for entry in entries where entry.tag == Tag.needed {
            names.append(try text(at: entry.value))
        }
        return names
    }

    /// The libraries that the loader also loads, because this one hands symbols of them out.
    func filters() throws(ImageError) -> [String] {
        var names: [String] = []
        for entry in entries where Tag.filters.contains(entry.tag) {
            names.append(try text(at: entry.value))
        }
        return names
    }

    func soname() throws(ImageError) -> String? {
        guard let offset = self[Tag.soname] else { return nil }
        return try text(at: offset)
    }

    /// The folders in which the loader searches for needed libraries, as written in the file, each once.
    ///
    /// An empty one is the process's current folder for the loader, and `.` here. CMake leaves many of them.
    func folders() throws(ImageError) -> [String] {
        // The loader ignores DT_RPATH if there is a DT_RUNPATH.
        guard let list = self[Tag.runpath] ?? self[Tag.rpath] else { return [] }
        let text = String(
            decoding: try string(at: list, limit: Self.foldersBytesMax),
            as: UTF8.self
        )
        guard !text.isEmpty else { return [] }
        var seen: Set<String> = []
        return text.split(separator: ":", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "." : String($0) }
            .filter { seen.insert($0).inserted }
    }

    /// Whether it uses static thread-local storage, of which a process has a small reserve: if
    /// another plugin was loaded before, `dlopen` may fail.
    var hasStaticTLS: Bool { (self[Tag.flags] ?? 0) & 0x10 != 0 }

    var hasTextRelocations: Bool {
        self[Tag.textRelocations] != nil || (self[Tag.flags] ?? 0) & 4 != 0
    }

    /// Whether it is a program.
    ///
    /// Position-independent programs differ from libraries only in this flag.
    var isProgram: Bool { (self[Tag.flags1] ?? 0) & 0x0800_0000 != 0 }

    /// A name; escaped if it contains anything but printable ASCII, since it may be printed to a
    /// terminal.
    func text(at offset: UInt64) throws(ImageError) -> String {
        let bytes = try string(at: offset, limit: Self.textBytesMax)
        guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            return Quoted(bytes).description
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads one name without the whole table; empty if it does not end within the limit.
    private func string(at offset: UInt64, limit: UInt64) throws(ImageError) -> ArraySlice<UInt8> {
        guard offset < stringsBytes else { return [] }
        let bytes = try layout.read(
            "a name",
            address: stringsAddress + offset,
            limit: min(limit + 1, stringsBytes - offset)
        )
        return bytes.string(at: 0, limit: Int(limit)) ?? []
    }

    func malformed(_ what: String) -> ImageError {
        ImageError(layout.file.path, .malformed(what))
    }
}
