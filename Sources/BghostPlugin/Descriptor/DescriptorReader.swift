// SPDX-License-Identifier: Apache-2.0

import BghostModel
import CBghost

/// Reads the table of one plugin once.
struct DescriptorReader: ~Copyable {
    private typealias Problem = DescriptorError.Problem

    /// The sizes in ABI 1.0, which are the minimum whatever later minors append.
    private static let pluginBytes10 = 96
    private static let taskBytes10 = 64

    private let note: PluginNote
    private let memory: ForeignMemory
    private let code: CodeMap?

    init(note: PluginNote) throws(DescriptorError) {
        self.note = note
        code = CodeMap.current()
        do {
            memory = try ForeignMemory()
        } catch {
            throw Self.translated(error, "", note)
        }
    }

    func plugin(_ pointer: UnsafeRawPointer) throws(DescriptorError) -> PluginDescriptor {
        let part = "its table"
        var table = bg_plugin()
        // Check the major before the size: in another major, the size field may have another
        // meaning.
        try load(pointer, over: &table, count: 8, part)
        guard table.abi_major == PluginImage.abiMajor else {
            throw fault(.wrongABI(major: table.abi_major))
        }
        try loadWhole(pointer, over: &table, size: table.size, least: Self.pluginBytes10, part)
        guard table.min_host_minor <= BG_ABI_MINOR else {
            throw fault(.hostTooOld(minor: table.min_host_minor))
        }
        let id = try text(table.id, "its id", most: PluginDescriptor.idBytesMax)
        // The note need not have the plugin's id, since some languages cannot put text there; the
        // table always has it.
        guard IdentifierPattern.isValid(id) else { throw fault(.badID("\(Quoted(id.utf8))")) }
        guard note.id.isEmpty || id == note.id else {
            throw fault(.idMismatch(note: note.id, table: "\(Quoted(id.utf8))"))
        }
        try requireKnown(table.flags, known: 0, part)
        let version = try text(
            table.version,
            "its version",
            most: PluginDescriptor.versionBytesMax
        )
        let vendor = try text(table.vendor, "its vendor", most: PluginDescriptor.vendorBytesMax)
        return PluginDescriptor(
            id: id,
            version: version,
            vendor: vendor,
            hostMinorMin: table.min_host_minor,
            handlers: try handlers(table),
            open: try function(table.open, "open()", as: PluginDescriptor.Open.self),
            drain: try function(table.drain, "drain()", as: PluginDescriptor.Drain.self),
            close: try function(table.close, "close()", as: PluginDescriptor.Close.self)
        )
    }

    // MARK: - Handlers

    private func handlers(_ table: bg_plugin) throws(DescriptorError) -> [PluginDescriptor.Handler]
    {
        guard (1...UInt32(PluginDescriptor.handlersMax)).contains(table.n_tasks) else {
            throw fault(.handlerCount(table.n_tasks))
        }
        var handlers: [PluginDescriptor.Handler] = []
        var names: Set<String> = []
        for index in 0..<Int(table.n_tasks) {
            let place = table.tasks.map { UnsafeRawPointer($0 + index) }
            var task: UnsafePointer<bg_task>?
            try load(place, over: &task, count: 8, "its list of handlers")
            let handler = try handler(UnsafeRawPointer(task), index: index)
            guard names.insert(handler.name).inserted else {
                throw fault(.duplicateHandler(handler.name))
            }
            handlers.append(handler)
        }
        return handlers
    }

    private func handler(
        _ pointer: UnsafeRawPointer?,
        index: Int
    ) throws(DescriptorError) -> PluginDescriptor.Handler {
        var task = bg_task()
        let position = "handler \(index)"
        try load(pointer, over: &task, count: 4, position)
        try loadWhole(pointer, over: &task, size: task.size, least: Self.taskBytes10, position)
        let name = try handlerName(task.handler, index: index)
        let part = "handler \"\(name)\""
        try requireKnown(task.flags, known: PluginDescriptor.Flags.known.rawValue, part)
        let schema = try text(
            task.params_schema,
            "the schema of \(part)",
            most: PluginDescriptor.schemaBytesMax,
            linesAllowed: true
        )
        guard
            let start = try function(
                task.start,
                "start() of \(part)",
                as: PluginDescriptor.Start.self
            )
        else { throw fault(.noStart(handler: name)) }
        return PluginDescriptor.Handler(
            name: name,
            parametersSchema: schema,
            flags: PluginDescriptor.Flags(rawValue: task.flags).intersection(.known),
            start: start,
            cancel: try function(
                task.cancel,
                "cancel() of \(part)",
                as: PluginDescriptor.Cancel.self
            ),
            release: try function(
                task.release,
                "release() of \(part)",
                as: PluginDescriptor.Release.self
            ),
            address: UInt(bitPattern: pointer)
        )
    }

    private func handlerName(_ string: bg_str, index: Int) throws(DescriptorError) -> String {
        let part = "the name of handler \(index)"
        let bytes = try bytes(string, part, most: PluginDescriptor.nameBytesMax)
        let isValid =
            !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isValid else { throw fault(.badHandlerName(index, bytes: bytes)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - Fields

    /// Reads a table whose size field has been read, and which must have at least all fields of
    /// 1.0.
    ///
    /// Fields that a later plugin appended are ignored; fields that an earlier plugin lacks stay 0.
    private func loadWhole<T: BitwiseCopyable>(
        _ pointer: UnsafeRawPointer?,
        over value: inout T,
        size: UInt32,
        least: Int,
        _ part: String
    ) throws(DescriptorError) {
        guard size >= least, size <= PluginDescriptor.tableBytesMax, size.isMultiple(of: 8) else {
            throw fault(.badSize(part: part, found: size, least: least))
        }
        try load(pointer, over: &value, count: min(Int(size), MemoryLayout<T>.size), part)
    }

    private func load<T: BitwiseCopyable>(
        _ pointer: UnsafeRawPointer?,
        over value: inout T,
        count: Int,
        _ part: String
    ) throws(DescriptorError) {
        do {
            try memory.load(pointer, over: &value, count: count)
        } catch {
            throw Self.translated(error, part, note)
        }
    }

    private func bytes(
        _ string: bg_str,
        _ part: String,
        most: Int
    ) throws(DescriptorError) -> [UInt8] {
        // Swift imports size_t as Int: a length above Int.max would appear negative.
        let length = UInt(bitPattern: string.len)
        guard length > 0 else { return [] }
        guard length <= most else {
            throw fault(.longText(part: part, length: length, most: most))
        }
        guard let pointer = string.ptr else {
            throw fault(.nullText(part: part, length: length))
        }
        do {
            return try memory.bytes(pointer, count: Int(length))
        } catch {
            throw Self.translated(error, part, note)
        }
    }

    private func text(
        _ string: bg_str,
        _ part: String,
        most: Int,
        linesAllowed: Bool = false
    ) throws(DescriptorError) -> String {
        let bytes = try bytes(string, part, most: most)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw fault(.notUTF8(part: part, bytes: bytes))
        }
        let isClean = text.unicodeScalars.allSatisfy { scalar in
            linesAllowed && [0x09, 0x0A, 0x0D].contains(scalar.value) || !scalar.isControl
        }
        guard isClean else { throw fault(.controlCharacter(part: part, bytes: bytes)) }
        return text
    }

    private func requireKnown(_ flags: UInt32, known: UInt32, _ part: String)
        throws(DescriptorError)
    {
        let unknown = flags & 0xFFFF & ~known
        guard unknown == 0 else { throw fault(.unknownFlags(part: part, bits: unknown)) }
    }

    /// Accepts a function pointer as Sendable.
    ///
    /// A pointer from C is not Sendable by itself; the ABI's contract makes it so, since the host
    /// calls it only where and when the contract permits.
    private func function<From, To>(
        _ function: From?,
        _ part: String,
        as type: To.Type
    ) throws(DescriptorError) -> To? {
        guard let function else { return nil }
        // Without /proc no address can be judged; a call of a bad one would crash and be attributed
        // to the plugin.
        if let code, !code.contains(unsafeBitCast(function, to: UInt.self)) {
            throw fault(.notCode(part: part))
        }
        return unsafeBitCast(function, to: To.self)
    }

    private func fault(_ problem: Problem) -> DescriptorError { DescriptorError(note.id, problem) }

    private static func translated(
        _ fault: ForeignMemory.Fault,
        _ part: String,
        _ note: PluginNote
    ) -> DescriptorError {
        switch fault {
        case .unreadable: DescriptorError(note.id, .unreadable(part: part))
        case .system(let code): DescriptorError(note.id, .cannotCheck(errno: code))
        }
    }
}

extension Unicode.Scalar {
    /// Whether the character could forge lines of a log or reverse the order of the following text.
    fileprivate var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
