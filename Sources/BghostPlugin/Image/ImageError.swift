// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why the host rejects a file as a plugin.
///
/// Each cause is found without running any code of the file.
package struct ImageError: Error, Equatable, Sendable, CustomStringConvertible {
    package var path: String
    package var problem: Problem

    package init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }

    /// The causes.
    package enum Problem: Equatable, Sendable {
        case cannotOpen(errno: Int32)
        case cannotRead(errno: Int32)
        case notRegular(kind: String)
        case tooLarge(bytes: UInt64)
        /// Its tables, with those of the libraries that it needs, exceed the budget.
        case overBudget
        case notELF(beginning: [UInt8])
        case not64Bit
        case notLittleEndian
        case wrongMachine(found: UInt16)
        case notLibrary(kind: String)
        /// A part that the file's own headers announce lies beyond the end of the file.
        case cutOff(part: String, end: UInt64, size: UInt64)
        /// The headers contradict themselves or the format.
        case malformed(String)
        case tornNote(String)
        case noNote
        case wrongABI(found: String)
        case noEntry(offered: [UInt16])
        /// The symbol with the entry's name is not a function.
        case entryNotFunction
        /// It has the runtime of Go and would be loaded into the daemon.
        case needsWorker
        /// The loader finds no library with this name.
        case missingLibrary(name: String, neededBy: String)
        /// A needed library is older than the one that the file was linked with, or a different
        /// one.
        case missingVersion(String, of: String, neededBy: String)
        /// Neither the library nor those that it needs define these symbols.
        case undefinedSymbols([String], in: String)
    }

    /// A stable code for each cause, for scripts and logs.
    package var code: String {
        switch problem {
        case .cannotOpen: "cannot-open"
        case .cannotRead: "cannot-read"
        case .notRegular: "not-a-file"
        case .tooLarge: "too-large"
        case .overBudget: "over-budget"
        case .notELF: "not-elf"
        case .not64Bit: "not-64-bit"
        case .notLittleEndian: "not-little-endian"
        case .wrongMachine: "wrong-machine"
        case .notLibrary: "not-a-library"
        case .cutOff: "cut-off"
        case .malformed: "malformed"
        case .tornNote: "torn-note"
        case .noNote: "no-note"
        case .wrongABI: "wrong-abi"
        case .noEntry: "no-entry"
        case .entryNotFunction: "entry-not-function"
        case .needsWorker: "needs-worker"
        case .missingLibrary: "missing-library"
        case .missingVersion: "missing-version"
        case .undefinedSymbols: "undefined-symbols"
        }
    }

    package var description: String { "\(path): \(sentence)" }

    private var sentence: String {
        switch problem {
        case .cannotOpen(let code):
            "cannot be opened: \(text(code)). Check the path and its permissions"
        case .cannotRead(let code):
            "cannot be read: \(text(code))"
        case .notRegular(let kind):
            "is \(kind), not a file. A plugin is one shared object (.so)"
        case .tooLarge(let bytes):
            """
            has \(bytes) bytes; a plugin has at most \(PluginImage.sizeBytesMax). Strip its debug \
            information or check that this is the right file
            """
        case .overBudget:
            """
            takes too long to look at: of a plugin and the libraries that it needs, the tables have \
            \(ImageBudget.bytesMax >> 20) MiB at the most and are read within \
            \(ImageBudget.timeMax / 1_000_000_000) s. Strip its symbols, or look whether the disk answers
            """
        case .notELF(let beginning) where beginning.isEmpty:
            "is empty. A plugin is a shared object (.so): copy or build it again"
        case .notELF(let beginning):
            """
            is not an ELF file: it begins with \(Quoted(beginning)). A plugin is a shared object \
            (.so), not its source, an archive or a script
            """
        case .not64Bit:
            "is a 32-bit ELF file; this host loads 64-bit ones. Build it for \(Machine.host.name)"
        case .notLittleEndian:
            "is big-endian; this host is little-endian. Build it for \(Machine.host.name)"
        case .wrongMachine(let found):
            """
            is built for \(Machine(code: found).name), this machine is \(Machine.host.name). \
            Get the build for this machine
            """
        case .notLibrary(let kind):
            "is \(kind), not a shared object. Link it with -shared"
        case .cutOff(let part, let end, let size):
            """
            is cut off: \(part) would end at byte \(end), the file has \(size). \
            Copy or build it again
            """
        case .malformed(let what):
            "is a damaged ELF file: \(what). Build it again"
        default: contractSentence
        }
    }

    private var contractSentence: String {
        switch problem {
        case .tornNote(let what):
            """
            has a damaged note in .note.bghost: \(what). Write it with \
            BG_NOTE("abi=1.0;id=org.example.name;runtime=c")
            """
        case .noNote:
            """
            has no bghost note, so that nothing is known of it before its code runs. Add \
            BG_NOTE("abi=1.0;id=org.example.name;runtime=c") from bghost.h to one of its sources
            """
        case .wrongABI(let found):
            "is built for abi=\(found), this bghost offers \(PluginImage.hostABI). \(advice(found))"
        case .noEntry(let offered) where offered.isEmpty:
            """
            exports no \(PluginImage.entryName). Define the entry function of bghost.h, with \
            BG_EXPORT, and as extern "C" in C++
            """
        case .noEntry(let offered):
            """
            exports no \(PluginImage.entryName); it offers \
            \(offered.map { "bghost_plugin_v\($0)" }.joined(separator: ", ")): it needs \
            \((offered.max() ?? 0) > PluginImage.abiMajor ? "a newer" : "an older") bghost
            """
        case .entryNotFunction:
            """
            exports \(PluginImage.entryName) as data; it must be a function that returns the \
            table, so that it can be called
            """
        case .needsWorker:
            """
            has the runtime of Go, which starts threads and takes over signals while it is loaded; the \
            daemon loads it into workers only. Use `"isolation": "worker"`
            """
        default: linkSentence
        }
    }

    private var linkSentence: String {
        switch problem {
        case .missingLibrary(let name, let neededBy):
            """
            cannot be loaded: \(subject(neededBy)) \(name), which the loader does not find. Install \
            it, or put it beside the plugin and link with -Wl,-rpath,'$ORIGIN'
            """
        case .missingVersion(let version, let library, let neededBy):
            """
            cannot be loaded: \(subject(neededBy)) the version \(version), which \(library) does \
            not have. Build it on this release of the system, or on an older one
            """
        case .undefinedSymbols(let names, let library):
            """
            cannot be loaded: \(names.count) \(names.count == 1 ? "symbol" : "symbols")\
            \(library == path ? "" : " of \(library)") \(names.count == 1 ? "is" : "are") undefined, \
            \(list(names)). Link it with -z defs, so that the linker refuses this; how to build a \
            plugin in Swift stands in docs/HANDLERS.md
            """
        default: ""
        }
    }

    private func subject(_ library: String) -> String {
        library == path ? "it needs" : "\(library) needs"
    }

    private func list(_ names: [String]) -> String {
        let shown = names.prefix(3).map { $0.count > 80 ? "\($0.prefix(80))…" : $0 }
        let rest = names.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private func advice(_ found: String) -> String {
        let major = found.prefix { $0 != "." }
        return (UInt32(major) ?? 0) > UInt32(PluginImage.abiMajor)
            ? "It needs a newer bghost" : "Build it against this bghost's header"
    }

    private func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// The machine architecture of an ELF file.
struct Machine: Equatable {
    var code: UInt16

    #if arch(x86_64)
        static let host = Machine(code: 62)
    #elseif arch(arm64)
        static let host = Machine(code: 183)
    #else
        #error("bghost runs on x86-64 and aarch64")
    #endif

    var name: String {
        switch code {
        case 3: "x86 (32-bit)"
        case 20, 21: "PowerPC"
        case 22: "s390"
        case 40: "ARM (32-bit)"
        case 62: "x86-64"
        case 183: "aarch64"
        case 243: "RISC-V"
        case 258: "LoongArch"
        default: "machine \(code)"
        }
    }
}

/// Untrusted bytes for a message: quoted, truncated, with everything but printable ASCII escaped.
struct Quoted: CustomStringConvertible {
    private static let countMax = 24
    var description: String

    init(_ bytes: some Collection<UInt8>) {
        var text = "\""
        for byte in bytes.prefix(Self.countMax) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text += "\\" + String(Unicode.Scalar(byte))
            case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16)
                text += (byte < 16 ? "\\x0" : "\\x") + digits
            }
        }
        description = text + (bytes.count > Self.countMax ? "\"..." : "\"")
    }
}
