// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostManifest

/// The explanations for `bghost help CODE`.
enum ErrorCatalog {
    /// Whether a word has the form of a code: `BG` and four digits, in upper or lower case.
    static func isCode(_ word: String) -> Bool {
        let bytes = Array(word.uppercased().utf8)
        return bytes.count == 6 && bytes.starts(with: "BG".utf8)
            && bytes.dropFirst(2).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
    }

    /// The explanation of a code; `nil` if the code is unknown.
    static func explanation(of code: String) -> String? {
        let code = code.uppercased()
        return FaultCode(rawValue: code)?.explanation ?? DiagnosticCode(rawValue: code)?.explanation
    }
}
