// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why the host rejects the table that a plugin returned.
struct DescriptorError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The id in the plugin's note; "" if the note has none.
    var plugin: String
    var problem: Problem

    init(_ plugin: String, _ problem: Problem) {
        self.plugin = plugin
        self.problem = problem
    }

    /// The causes.
    ///
    /// `part` names the faulty part as in the message: `handler "send"`.
    enum Problem: Equatable, Sendable {
        /// The entry function returned 0.
        case cannotRunHere
        case unreadable(part: String)
        case badSize(part: String, found: UInt32, least: Int)
        case wrongABI(major: UInt16)
        case hostTooOld(minor: UInt16)
        case badID(String)
        case idMismatch(note: String, table: String)
        case unknownFlags(part: String, bits: UInt32)
        case handlerCount(UInt32)
        case badHandlerName(Int, bytes: [UInt8])
        case duplicateHandler(String)
        case noStart(handler: String)
        case notCode(part: String)
        case nullText(part: String, length: UInt)
        case longText(part: String, length: UInt, most: Int)
        case notUTF8(part: String, bytes: [UInt8])
        case controlCharacter(part: String, bytes: [UInt8])
        /// This process failed to read the table.
        case cannotCheck(errno: Int32)
    }

    /// A stable code for each cause, for scripts and logs.
    var code: String {
        switch problem {
        case .cannotRunHere: "cannot-run-here"
        case .unreadable: "unreadable-table"
        case .badSize: "bad-size"
        case .wrongABI: "wrong-abi"
        case .hostTooOld: "host-too-old"
        case .badID: "bad-id"
        case .idMismatch: "lying-note"
        case .unknownFlags: "unknown-flags"
        case .handlerCount: "handler-count"
        case .badHandlerName: "bad-handler-name"
        case .duplicateHandler: "duplicate-handler"
        case .noStart: "no-start"
        case .notCode: "not-code"
        case .nullText: "null-text"
        case .longText: "long-text"
        case .notUTF8: "not-utf8"
        case .controlCharacter: "control-character"
        case .cannotCheck: "cannot-check"
        }
    }

    var description: String {
        plugin.isEmpty ? "the plugin: \(sentence)" : "plugin \(plugin): \(sentence)"
    }

    private var sentence: String {
        switch problem {
        case .cannotRunHere:
            """
            its entry function returned 0, which says that it cannot run here. Look at its own \
            documentation for what it needs
            """
        case .unreadable(let part):
            """
            \(part) lies in memory that cannot be read. Tables and texts must be static memory of \
            the plugin
            """
        case .badSize(let part, let found, let least):
            """
            \(part) says that it has \(found) bytes; at least \(least), a multiple of 8 and at most \
            \(PluginDescriptor.tableBytesMax) are expected. Set size to sizeof of the struct
            """
        case .wrongABI(let major):
            """
            its table is of ABI major \(major), this bghost offers \(PluginImage.hostABI). Its note \
            says otherwise: build it again against one header
            """
        case .hostTooOld(let minor):
            """
            it needs a host of ABI \(PluginImage.abiMajor).\(minor) or later, this bghost offers \
            \(PluginImage.hostABI). It needs a newer bghost
            """
        case .badID(let found):
            "its id is \(found), not one like org.example.name"
        case .idMismatch(let note, let table):
            "its note says id=\(note), its table says \(table). Write the same id in both"
        case .unknownFlags(let part, let bits):
            """
            \(part) sets the flags 0x\(String(bits, radix: 16)), which this bghost does not know and \
            must not ignore. It needs a newer bghost
            """
        case .handlerCount(let count):
            """
            it claims \(count) handlers; 1 to \(PluginDescriptor.handlersMax) are possible. Set \
            n_tasks to the number of its tasks
            """
        case .cannotCheck(let code):
            "its table could not be looked at: \(String(cString: strerror(code)))"
        default: handlerSentence
        }
    }

    private var handlerSentence: String {
        switch problem {
        case .badHandlerName(let index, let bytes):
            """
            the name of handler \(index) is \(Quoted(bytes)); it must be 1 to \
            \(PluginDescriptor.nameBytesMax) of A-Z a-z 0-9 . _ -
            """
        case .duplicateHandler(let name):
            "it has two handlers named \"\(name)\". A task could mean either: rename one"
        case .noStart(let handler):
            "handler \"\(handler)\" has no start(). Set it: it begins a run"
        case .notCode(let part):
            "\(part) points at memory that is no code. Set it to a function of the plugin"
        case .nullText(let part, let length):
            "\(part) has \(length) bytes at address 0. Write {0, 0} for an empty text"
        case .longText(let part, let length, let most):
            "\(part) has \(length) bytes; at most \(most) are possible"
        case .notUTF8(let part, let bytes):
            "\(part) is not UTF-8: \(Quoted(bytes)). Write it in UTF-8"
        case .controlCharacter(let part, let bytes):
            "\(part) holds control characters: \(Quoted(bytes)). Leave them out"
        default: ""
        }
    }
}
