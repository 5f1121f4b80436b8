// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A description of a shared object, obtained without running any of its code.
///
/// Any well-formed library can be described, whether or not it is a plugin: `plugin inspect` shows
/// it. `requireLoadable` then determines whether the host would load it.
package struct PluginImage: Equatable, Sendable {
    package var path: String
    package var identity: FileIdentity
    /// `nil` if it has no note: such a library can be described, but not loaded.
    package var note: PluginNote?
    var entry: Entry
    /// The majors N of other exported entry functions `bghost_plugin_vN`.
    var otherMajors: [UInt16]
    /// The number of exported functions and variables besides the entry functions.
    package var extraExports: Int
    /// The names of the libraries that the loader loads with it.
    package var needed: [String]
    /// The folders in which the loader searches for those; a relative one begins at the process's current folder.
    package var folders: [String]
    package var soname: String?
    /// Reasons against running it inside the daemon; they do not matter in a worker.
    package var concerns: [Concern]

    /// The symbol with the name of the entry function.
    enum Entry: Equatable, Sendable {
        case absent
        case function
        /// It is data, or a function that does not lie in code.
        case notFunction
    }

    /// A property that is harmless in a separate process.
    package enum Concern: String, Equatable, Sendable, CaseIterable {
        case staticTLS = "it needs static thread-local storage, of which a process has little"
        case textRelocations = "its code is changed while it is loaded (TEXTREL)"
        case executableStack = "it makes the stacks of the process executable"
        case goRuntime = "it brings the Go runtime, of which a process can have only one"
        case ownAllocator = "it exports an allocator of its own (malloc)"
    }

    static let sizeBytesMax: UInt64 = 256 << 20
    static let entryName = "bghost_plugin_v1"
    static let abiMajor: UInt16 = 1
    /// The version of the ABI that this host speaks.
    package static let hostABI = "1.0"

    /// Describes the file at a path.
    package static func inspect(
        path: String,
        budget: ImageBudget = ImageBudget()
    ) throws(ImageError) -> PluginImage {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        return try inspect(descriptor: descriptor, path: path, budget: budget)
    }

    /// Describes an open file.
    ///
    ///   - descriptor: open for reading. The caller still owns it, and its position is not moved.
    ///   - path: for messages only.
    ///   - budget: the limit of bytes and time.
    package static func inspect(
        descriptor: Int32,
        path: String,
        budget: ImageBudget = ImageBudget()
    ) throws(ImageError) -> PluginImage {
        let file = try BoundedFile(descriptor: descriptor, path: path, budget: budget)
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
            needed: try dynamic.needed(),
            folders: NeededNames.folders(try dynamic.folders(), of: path),
            soname: try dynamic.soname(),
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

    /// Throws if the host would not load this image.
    ///
    /// A library without a note is rejected: before its constructors run, neither its ABI nor
    /// whether it is meant to be a plugin would be known.
    ///
    /// - Parameter inDaemon: whether it would be loaded into the daemon and not into a worker.
    /// - Returns: the note, with which the plugin's table must agree.
    package func requireLoadable(inDaemon: Bool = false) throws(ImageError) -> PluginNote {
        // Check the entry first: for a library that is not a plugin, that message is clearer than
        // one about a missing note.
        switch entry {
        case .absent: throw ImageError(path, .noEntry(offered: otherMajors))
        case .notFunction: throw ImageError(path, .entryNotFunction)
        case .function: break
        }
        guard let note else { throw ImageError(path, .noNote) }
        guard note.abiMajor == Self.abiMajor else {
            throw ImageError(path, .wrongABI(found: "\(note.abiMajor).\(note.abiMinor)"))
        }
        guard !inDaemon || !mayHaveGoRuntime else { throw ImageError(path, .needsWorker) }
        return note
    }

    /// Whether the file or its note says that it has the runtime of Go.
    ///
    /// One of them is enough to keep it out of the daemon: the loader starts that runtime, and
    /// nothing stops it.
    package var mayHaveGoRuntime: Bool { concerns.contains(.goRuntime) || note?.runtime == "go" }

    /// Whether the file has the runtime of Go and its note declares it.
    ///
    /// Both are needed to permit what that runtime does: a note alone would let any plugin claim it,
    /// and an undeclared one is a surprise to its author.
    package var hasGoRuntime: Bool { concerns.contains(.goRuntime) && note?.runtime == "go" }

    /// Throws if the loader would not find every library, version and symbol that the file at a
    /// path needs.
    ///
    /// It reads all libraries that the file needs, so do not call it on the thread that enforces
    /// limits.
    package static func requireResolved(path: String) throws(ImageError) {
        try LinkCheck.run(path)
    }
}

extension PluginImage {
    /// Parses the N of `bghost_plugin_vN`.
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

    /// Reads the note where the loader would, and then from a section with the usual name: a linker
    /// script may have kept the note out of the segments.
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
        // If the file does not say, the loader on x86-64 assumes that the code needs executable
        // stacks.
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
