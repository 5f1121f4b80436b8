// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A form with one file (`multipart/form-data`, RFC 7578).
struct MultipartForm {
    let contentType: String
    let head: [UInt8]
    let tail: [UInt8]

    /// - Parameter id: part of the boundary; its 80 random bits ensure that the file does not
    ///   contain the boundary.
    init(_ id: RunID, _ field: String, _ fileName: String, _ type: String) {
        let boundary = "bghost-\(id)"
        contentType = "multipart/form-data; boundary=\(boundary)"
        head = Array(
            ("--\(boundary)\r\n"
                + "Content-Disposition: form-data; name=\"\(Self.quoted(field))\"; "
                + "filename=\"\(Self.quoted(fileName))\"\r\n"
                + "Content-Type: \(Self.line(type))\r\n\r\n").utf8
        )
        tail = Array("\r\n--\(boundary)--\r\n".utf8)
    }

    /// Percent-encodes the characters that would end the text or the line, as browsers do.
    private static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "%22"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func line(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        return isPlain ? text : "application/octet-stream"
    }
}
