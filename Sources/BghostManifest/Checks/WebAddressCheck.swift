// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Checks the addresses of receivers of alerts and of the heartbeat.
enum WebAddressCheck {
    private static let bytesMax = 2048

    /// The error in a URL as it is written; one with references is checked once they are replaced.
    static func fault(in text: String) -> TextFault? {
        text.containsASCII("${") ? nil : plainFault(in: text)
    }

    /// The error in a URL.
    static func plainFault(in text: String) -> TextFault? {
        func fault(_ reason: String, _ label: String? = nil) -> TextFault {
            TextFault(.badWebAddress, reason, label: label)
        }
        guard text.utf8.count <= bytesMax else {
            return fault("it is longer than \(bytesMax) bytes")
        }
        let scheme = text.hasPrefix("https://") ? 8 : text.hasPrefix("http://") ? 7 : 0
        guard scheme > 0 else {
            return fault("it does not begin with https:// or http://")
        }
        let rest = text.utf8.dropFirst(scheme)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        guard !authority.isEmpty else { return fault("it names no host") }
        guard !authority.contains(UInt8(ascii: "@")) else {
            return fault("it has a user or password", "use a token or a header")
        }
        let isPlain = rest.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        guard isPlain else {
            return fault("it has a space or another character that must be encoded")
        }
        guard !rest.contains(UInt8(ascii: "#")) else { return fault("it has a fragment") }
        return nil
    }

    /// The error in an e-mail address, which becomes a line of a header.
    static func mailFault(in text: String) -> TextFault? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }
        guard text.utf8.count <= 254, isPlain, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty })
        else { return TextFault(.badWebAddress, "it is no e-mail address") }
        return nil
    }

    /// The error in a window in which no alert is sent.
    static func windowFault(in text: String) -> TextFault? {
        do throws(MuteWindow.Fault) {
            _ = try MuteWindow(text)
            return nil
        } catch {
            return TextFault(
                .badMuteWindow,
                error.reason,
                label: "such as sat 02:00-04:00 or mon-fri 22:00-06:00"
            )
        }
    }

    /// The error in a secret, which may become a header.
    static func secretFault(in text: String) -> TextFault? {
        guard text.utf8.count <= 4096 else {
            return TextFault(.outOfRange, "it is longer than 4096 bytes")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return TextFault(.badName, "it has a control character")
        }
        return text.isEmpty ? TextFault(.badName, "it is empty") : nil
    }
}
