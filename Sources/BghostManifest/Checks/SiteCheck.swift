// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The errors in the addresses and names under which a browser reaches the daemon.
enum SiteCheck {
    /// The maximum length of a name with its port, bytes.
    static let nameBytesMax = 260

    static func addressFault(in text: String) -> TextFault? {
        guard LoopbackAddress(text) == nil else { return nil }
        guard text.hasPrefix("127.0.0.1:") || text.hasPrefix("[::1]:") else {
            return TextFault(
                .badAddress,
                "it is not 127.0.0.1 or [::1] with a port",
                label:
                    "the pages are for this machine; use `ssh -L` or a proxy to reach them from another"
            )
        }
        return TextFault(.badAddress, "its port is not a number from 0 to 65535")
    }

    /// Checks a name as the `Host` of a request has it: in lower case, with a port or without.
    static func nameFault(in text: String) -> TextFault? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if text.isEmpty { return TextFault(.badAddress, "it is empty") }
        if text.utf8.count > nameBytesMax {
            return TextFault(.badAddress, "it is longer than \(nameBytesMax) bytes")
        }
        if text.contains("/") {
            return TextFault(
                .badAddress,
                "it is a URL, or has a path",
                label: "write the name only"
            )
        }
        if text.lowercased() != text {
            return TextFault(.badAddress, "it is in capitals", label: "write it in lower case")
        }
        let isName = parts[0].utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, let first = parts[0].utf8.first, first != UInt8(ascii: "."),
            first != UInt8(ascii: "-")
        else { return TextFault(.badAddress, "it is no name of a host") }
        guard
            parts.count == 1
                || parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }) && UInt16(parts[1]) != nil
        else { return TextFault(.badAddress, "its port is not a number from 0 to 65535") }
        return nil
    }
}
