// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What can be known of a shared object without running anything of it.
///
/// Any well-formed library can be described, whether it is a plugin or not: `plugin inspect` shows it.
/// `requireLoadable` then says whether the host would load it.
package struct PluginImage: Equatable, Sendable {
    package var path: String
    package var identity: FileIdentity
    /// `nil` if it carries none: such a library is described, but not loaded.
    package var note: PluginNote?
    package var entry: Entry
    /// The majors N of the other `bghost_plugin_vN` that it exports.
    package var otherMajors: [UInt16]
    /// How many functions and variables it exports besides the entry functions.
    package var extraExports: Int
    /// The libraries that the loader will fetch with it, as they are named in it.
    package var needed: [String]
    /// Folders in which the loader looks for those, absolute.
    package var folders: [String]
    package var soname: String?
    /// What speaks against running it inside the daemon; a worker does not mind.
    package var concerns: [Concern]

    /// What stands under the name of the entry function.
    package enum Entry: Equatable, Sendable {
        case absent
        case function
        /// Data, or a function that does not lie in code.
        case notFunction
    }

    /// A property that is harmless in a process of its own.
    package enum Concern: String, Equatable, Sendable, CaseIterable {
        case staticTLS = "it needs static thread-local storage, of which a process has little"
        case textRelocations = "its code is changed while it is loaded (TEXTREL)"
        case executableStack = "it makes the stacks of the process executable"
        case goRuntime = "it brings the Go runtime, of which a process can have only one"
        case ownAllocator = "it exports an allocator of its own (malloc)"
    }

    package static let sizeBytesMax: UInt64 = 256 << 20
    package static let entryName = "bghost_plugin_v1"
    static let abiMajor: UInt16 = 1
    static let hostABI = "1.0"

    /// Describes the file at a path.
    package static func inspect(path: String) throws(ImageError) -> PluginImage {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        return try inspect(descriptor: descriptor, path: path)
    }

    /// Describes an open file.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading; it stays the caller's and its position is not moved.
    ///   - path: for messages only.
    package static func inspect(
        descriptor: Int32,
        path: String
    ) throws(ImageError) -> PluginImage {
        let file = try BoundedFile(descriptor: descriptor, path: path)
        let layout = try ELFLayout(file)
        let dynamic = try DynamicTable(layout)
        guard !dynamic.isProgram else { throw ImageError(path, .notLibrary(kind: "a program")) }
        let symbols = try SymbolTable(dynamic)
        let entries = symbols.exports(beginning: "bghost_plugin_v").compactMap { found in
            version(found.rest).map { (major: $0, symbol: found.symbol) }
        }
        let own = entries.first { $0.major == abiMajor }?.symbol
        return PluginImage(
            path: path,
            identity: file.identity,
            note: try readNote(layout),
            entry: own.map { isCode($0, in: layout) ? .function : .notFunction } ?? .absent,
            otherMajors: entries.map(\.major).filter { $0 != abiMajor }.sorted(),
            extraExports: symbols.exports.count { $0.kind != SymbolTable.untyped }
                - entries.count { $0.symbol.kind != SymbolTable.untyped },
            needed: dynamic.needed,
            folders: folders(dynamic.folders, of: path),
            soname: dynamic.soname,
            concerns: concerns(layout, dynamic, symbols)
        )
    }

    /// The names of the functions that the file at a path exports, without weak ones.
    package static func exportedFunctions(path: String) throws(ImageError) -> [String] {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        let layout = try ELFLayout(BoundedFile(descriptor: descriptor, path: path))
        return try SymbolTable(DynamicTable(layout)).strongFunctions
    }

    /// Says whether the host would load this.
    ///
    /// A library without a note is refused: then nothing at all is known of it before its constructors
    /// run, neither the ABI nor whether it is meant to be a plugin.
    ///
    /// - Returns: the note, with which the plugin's table must agree.
    package func requireLoadable() throws(ImageError) -> PluginNote {
        // The entry first: a library that is no plugin should be told so, not to add a note.
        switch entry {
        case .absent: throw ImageError(path, .noEntry(offered: otherMajors))
        case .notFunction: throw ImageError(path, .entryNotFunction)
        case .function: break
        }
        guard let note else { throw ImageError(path, .noNote) }
        guard note.abiMajor == Self.abiMajor else {
            throw ImageError(path, .wrongABI(found: "\(note.abiMajor).\(note.abiMinor)"))
        }
        return note
    }
}

extension PluginImage {
    /// Puts the library's own folder where it is meant.
    private static func folders(_ written: [String], of path: String) -> [String] {
        let own = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return written.compactMap { folder in
            for origin in ["$ORIGIN", "${ORIGIN}"] where folder.hasPrefix(origin) {
                return own + folder.dropFirst(origin.count)
            }
            return folder.hasPrefix("/") ? folder : nil
        }
    }

    /// Reads the N of `bghost_plugin_vN`.
    private static func version(_ rest: ArraySlice<UInt8>) -> UInt16? {
        guard rest.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(String(decoding: rest, as: UTF8.self))
    }

    private static func isCode(_ symbol: SymbolTable.Symbol, in layout: ELFLayout) -> Bool {
        guard symbol.kind == SymbolTable.function else { return false }
        return layout.segments(of: ELFLayout.SegmentType.load).contains { segment in
            segment.isExecutable && symbol.address >= segment.address
                && symbol.address - segment.address < segment.fileBytes
        }
    }

    /// Looks where the loader would look, and then for a section of the usual name: a linker script
    /// may have kept the note out of the segments.
    private static func readNote(_ layout: ELFLayout) throws(ImageError) -> PluginNote? {
        let bytesMax: UInt64 = 64 << 10
        var texts: [ArraySlice<UInt8>] = []
        for segment in layout.segments(of: ELFLayout.SegmentType.note) {
            let count = min(segment.fileBytes, bytesMax)
            let data = try layout.file.read("a note", at: segment.offset, count: count)
            texts += try unwrap(
                NoteList.texts(in: data, alignment: segment.alignment, isOurs: false),
                layout
            )
        }
        if texts.isEmpty, let section = layout.section(".note.bghost"),
            section.type != ELFLayout.noBits
        {
            let count = min(section.size, bytesMax)
            let data = try layout.file.read("the note", at: section.offset, count: count)
            texts = try unwrap(
                NoteList.texts(in: data, alignment: section.alignment, isOurs: true),
                layout
            )
            guard !texts.isEmpty else {
                throw ImageError(
                    layout.file.path,
                    .tornNote("it holds no note of the owner \"bghost\" and type 1")
                )
            }
        }
        guard let text = texts.first else { return nil }
        guard texts.count == 1 else {
            throw ImageError(layout.file.path, .tornNote("there are \(texts.count) notes, not one"))
        }
        return try unwrap(PluginNote.parse(text), layout)
    }

    private static func unwrap<T>(
        _ result: Result<T, NoteFault>,
        _ layout: ELFLayout
    ) throws(ImageError) -> T {
        switch result {
        case .success(let value): return value
        case .failure(let fault): throw ImageError(layout.file.path, .tornNote(fault.what))
        }
    }

    private static func concerns(
        _ layout: ELFLayout,
        _ dynamic: DynamicTable,
        _ symbols: SymbolTable
    ) -> [Concern] {
        var found: [Concern] = []
        if dynamic.hasStaticTLS { found.append(.staticTLS) }
        if dynamic.hasTextRelocations { found.append(.textRelocations) }
        let stacks = layout.segments(of: ELFLayout.SegmentType.stack)
        // Without a word on it the loader assumes, on x86-64, that the code wants it executable.
        if stacks.isEmpty || stacks.contains(where: \.isExecutable) {
            found.append(.executableStack)
        }
        if layout.section(".go.buildinfo") != nil { found.append(.goRuntime) }
        if symbols.exports(beginning: "malloc").contains(where: { $0.rest.isEmpty }) {
            found.append(.ownAllocator)
        }
        return found
    }
}
