// SPDX-License-Identifier: Apache-2.0

internal import BghostCrypto
internal import BghostTransferRules
internal import Glibc

/// The key of a request.
///
/// Two requests of a session have the same key if they have the same method, URL, body, file and
/// headers, except headers that do not affect the response.
enum TransferKey {
    /// Headers that differ between requests for the same resource and do not affect the response.
    private static let ignored: Set<String> = [
        "idempotency-key", "traceparent", "tracestate", "user-agent", "x-bghost-fence",
        "x-request-id",
    ]

    /// - Parameter stamp: identifies the file of an upload by its size, time and inode; a hash
    ///   would have to read all of it.
    static func text(
        of request: TransferRequest,
        at address: WebAddress,
        _ stamp: FileStamp?
    ) -> String {
        var hash = SHA256()
        // Include the length of each part, so that two different lists never hash the same text.
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
        // A path that the host chose for a download has its id, which no other request has.
        if !request.hasOwnPlace { add(request.file) }
        if let stamp { add("\(stamp)") }
        return hash.finalize().prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

/// The headers that a transfer sets itself, and that a client must not set.
enum TransferHeaders {
    private static let reserved: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "range", "tus-resumable", "upload-complete", "upload-draft-interop-version",
        "upload-length", "upload-offset",
    ]

    static func check(_ request: TransferRequest) throws(FetchFailure) {
        try RequestHeaders.check(
            request.headers.map { ($0.name, $0.value) },
            sendsDigest: false,
            isFenced: true
        )
        for header in request.headers where reserved.contains(header.name.lowercased()) {
            throw .badHeader(
                name: header.name,
                reason: "a transfer sets it itself to go on where it stood: leave it out"
            )
        }
    }
}

/// Closes descriptors that no object owns.
enum Descriptors {
    // On Linux the descriptor is closed whatever the call returns.
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
}
