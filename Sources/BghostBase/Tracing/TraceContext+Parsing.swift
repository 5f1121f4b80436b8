// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a header of W3C Trace Context.
package struct TraceContextFault: Error, Equatable, Sendable {
    /// A clause such as "its trace id is 0".
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension TraceContext {
    /// The bytes of a header of version 00.
    private static let length = 55

    /// Parses the headers of a caller.
    ///
    /// It takes version 00 as it is defined, and of a later version the parts that version 00 has, as the
    /// specification prescribes. The cost is bounded by ``TraceState/bytesMax``.
    ///
    /// - Parameters:
    ///   - traceparent: the header, of any length.
    ///   - tracestate: the other header; "" if there is none.
    /// - Throws: the first fault; a fault of `tracestate` too.
    package init(traceparent: String, tracestate: String = "") throws(TraceContextFault) {
        try self.init(parent: traceparent)
        if let fault = TraceState.fault(in: tracestate) { throw fault }
        state = TraceState.trimmed(tracestate)
    }

    /// Takes the headers that a client's HTTP library sent: as the specification has it, a faulty
    /// `traceparent` counts as none, and a faulty `tracestate` is dropped.
    ///
    /// - Parameters:
    ///   - traceparents: the values of all fields of this name; more than one is a fault.
    ///   - tracestates: the values of all fields of this name, which are one list.
    package init?(traceparents: [String], tracestates: [String]) {
        // A trace that cannot be read is not continued, as W3C's rules demand.
        guard traceparents.count == 1, let parent = try? TraceContext(parent: traceparents[0])
        else {
            return nil
        }
        self = parent
        let list = tracestates.joined(separator: ",")
        if TraceState.fault(in: list) == nil { state = TraceState.trimmed(list) }
    }

    private init(parent text: String) throws(TraceContextFault) {
        let bytes = Array(text.utf8.prefix(Self.length + 1))
        guard bytes.count >= Self.length else {
            throw TraceContextFault(
                "it has \(text.utf8.count) characters; 00-TRACE-SPAN-FLAGS has \(Self.length)"
            )
        }
        for index in [2, 35, 52] where bytes[index] != UInt8(ascii: "-") {
            throw TraceContextFault("character \(index + 1) is not `-`")
        }
        guard let version = Self.number(bytes[0..<2]) else {
            throw TraceContextFault("its version is not two lowercase hexadecimal digits")
        }
        guard version != 0xFF else { throw TraceContextFault("no header has the version ff") }
        // A later version may add fields behind those of version 00, separated as these are.
        guard bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-")
        else {
            throw TraceContextFault("characters follow its flags")
        }
        guard let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]) else {
            throw TraceContextFault("its trace id is not 32 lowercase hexadecimal digits")
        }
        guard high != 0 || low != 0 else { throw TraceContextFault("its trace id is 0") }
        guard let span = Self.number(bytes[36..<52]) else {
            throw TraceContextFault("its span id is not 16 lowercase hexadecimal digits")
        }
        guard span != 0 else { throw TraceContextFault("its span id is 0") }
        guard let flags = Self.number(bytes[53..<55]) else {
            throw TraceContextFault("its flags are not two lowercase hexadecimal digits")
        }
        // Only the sampled flag is known of later versions.
        let known = version == 0 ? Self.knownFlags : Self.sampledFlag
        self.init(
            traceHigh: high,
            traceLow: low,
            span: span,
            flags: UInt8(truncatingIfNeeded: flags) & known
        )
    }

    /// A number of at most 16 lowercase hexadecimal digits; `nil` for any other text.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}

/// The rules for the header `tracestate`.
package enum TraceState {
    /// The most bytes that are passed on; the specification asks for 512 at least.
    package static let bytesMax = 512
    private static let membersMax = 32

    /// The fault of a list; `nil` if it may be passed on.
    ///
    /// An empty text is no list and no fault.
    static func fault(in text: String) -> TraceContextFault? {
        guard text.utf8.count <= bytesMax else {
            return TraceContextFault("its tracestate has more than \(bytesMax) bytes")
        }
        var keys: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let member = trimmed(String(part))
            // The specification permits empty members.
            if member.isEmpty { continue }
            guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                return TraceContextFault("a member of its tracestate has no `=`")
            }
            let key = String(member[..<equals])
            guard isKey(key) else {
                return TraceContextFault("a member of its tracestate has a malformed key")
            }
            guard isValue(member[member.utf8.index(after: equals)...]) else {
                return TraceContextFault("a member of its tracestate has a malformed value")
            }
            guard keys.insert(key).inserted else {
                return TraceContextFault("its tracestate has the same key twice")
            }
        }
        guard keys.count <= membersMax else {
            return TraceContextFault("its tracestate has more than \(membersMax) members")
        }
        return nil
    }

    /// The text without white space around it.
    static func trimmed(_ text: String) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var bytes = Substring(text).utf8
        bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        return String(Substring(bytes))
    }

    private static func isKey(_ key: String) -> Bool {
        func isStart(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard let first = key.utf8.first, isStart(first), key.utf8.count <= 256 else {
            return false
        }
        return key.utf8.allSatisfy { isStart($0) || "_-*/@".utf8.contains($0) }
    }

    private static func isValue(_ value: Substring) -> Bool {
        guard value.utf8.count <= 256, let last = value.utf8.last, last != 0x20 else {
            return false
        }
        return value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
    }
}
