// SPDX-License-Identifier: Apache-2.0

extension PostgreSQLSession {
    /// An array of texts as the text of one parameter.
    static func array(_ texts: [String]) -> String {
        let quoted = texts.map { text in
            let bytes = text.utf8.flatMap { byte in
                byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                    ? [UInt8(ascii: "\\"), byte] : [byte]
            }
            return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
        }
        return "{" + quoted.joined(separator: ",") + "}"
    }
}
