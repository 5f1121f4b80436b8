// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

extension FetchRequest {
    /// The headers in the form that the host parses.
    ///
    /// - Throws: `FetchError` for a field that would break out of its line and add another one.
    func headerLines() throws -> String {
        try headers.map { name, value in
            let bytes = Array(name.utf8) + Array(value.utf8)
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: ":")),
                !bytes.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F })
            else {
                throw FetchError(
                    .invalidRequest,
                    "\(url): header field `\(name)` has a control character, or no valid name"
                )
            }
            return "\(name): \(value)\n"
        }.joined()
    }

    /// Lends the request to the host for the duration of one call.
    func withCRequest<Result>(
        headers: String,
        _ body: (UnsafePointer<bg_fetch_request>) -> Result
    ) -> Result {
        let (bytes, file) =
            switch self.body {
            case .data(let data): (data, "")
            case .file(let path): (Data(), path)
            case nil: (Data(), "")
            }
        return url.absoluteString.withBgStr { url in
            method.withBgStr { method in
                headers.withBgStr { headers in
                    file.withBgStr { file in
                        bytes.withUnsafeBytes { bytes in
                            let request = bg_fetch_request(
                                size: UInt32(MemoryLayout<bg_fetch_request>.size),
                                flags: digest ? UInt32(BG_FETCH_DIGEST) : 0,
                                url: url,
                                method: method,
                                headers: headers,
                                body: bg_str(bytes),
                                body_file: file,
                                max_bytes: maximumBytes.map { Int64(max(1, $0)) } ?? 0,
                                timeout_ms: timeout.map { max(1, $0.wholeMilliseconds) } ?? 0
                            )
                            return withUnsafePointer(to: request, body)
                        }
                    }
                }
            }
        }
    }
}
