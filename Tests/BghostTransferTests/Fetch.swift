// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer

/// Fetches with a fetcher of its own, which is shut down after.
@discardableResult
func fetch(
    _ url: String,
    method: String = "",
    headers: [(String, String)] = [],
    body: FetchBody = .none,
    sendsDigest: Bool = false,
    bytesMax: Int = 1 << 20,
    timeout: Duration = .seconds(3600),
    names: NameLookup = .system,
    permits: @escaping @Sendable (String, UInt16) -> Bool = { _, _ in true }
) async throws(FetchFailure) -> FetchResponse {
    let fetcher = HTTPFetcher(names: names, network: .patient)
    let request = FetchRequest(
        url: url,
        method: method,
        headers: headers,
        body: body,
        sendsDigest: sendsDigest,
        bytesMax: bytesMax,
        timeout: timeout
    )
    do {
        let response = try await fetcher.fetch(request, permits: permits)
        await fetcher.shutDown()
        return response
    } catch {
        await fetcher.shutDown()
        throw error
    }
}

/// The body of an answer as text.
func text(_ response: FetchResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
}
