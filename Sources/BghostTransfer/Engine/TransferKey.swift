// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import Crypto
internal import Glibc

/// What makes two requests of a session ask for the same: method, URL, the headers that choose the
/// answer, and the body.
enum TransferKey {
    /// Differ from one request to the next, and ask for nothing.
    private static let ignored: Set<String> = [
        "idempotency-key", "traceparent", "tracestate", "user-agent", "x-request-id",
    ]

    /// - Parameter stamp: of the file that is sent: hashing it would read all of it.
    static func text(
        of request: TransferRequest,
        at address: WebAddress,
        _ stamp: FileStamp?
    ) -> String {
        var hash = SHA256()
        // Each with its length, so that no two lists of parts look alike.
        func add(_ text: String) {
            hash.update(data: Array("\(text.utf8.count):\(text);".utf8))
        }
        add("\(request.kind)")
        add(request.effectiveMethod)
        add(address.url)
        let headers = request.headers.map { ($0.name.lowercased(), $0.value) }
            .filter { !ignored.contains($0.0) }
            .sorted { $0 < $1 }
        for (name, value) in headers {
            add(name)
            add(value)
        }
        add(ContentDigest.encode(request.body))
        add(ContentDigest.encode(request.digest ?? []))
        if let stamp {
            add(request.file)
            add("\(stamp)")
        }
        return hash.finalize().prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

/// The headers that a transfer needs for itself.
enum TransferHeaders {
    private static let reserved: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "range", "tus-resumable", "upload-complete", "upload-draft-interop-version",
        "upload-length", "upload-offset",
    ]

    static func check(_ request: TransferRequest) throws(FetchFailure) {
        try RequestHeaders.check(request.headers.map { ($0.name, $0.value) }, sendsDigest: false)
        for header in request.headers where reserved.contains(header.name.lowercased()) {
            throw .badHeader(
                name: header.name,
                reason: "a transfer sets it itself to go on where it stood: leave it out"
            )
        }
    }
}

/// Descriptors that are not kept in an object.
enum Descriptors {
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
}
