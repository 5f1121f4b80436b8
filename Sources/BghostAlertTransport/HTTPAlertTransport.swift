// SPDX-License-Identifier: Apache-2.0

internal import BghostAlerts
internal import BghostBase
internal import BghostCrypto
package import BghostDispatch
package import BghostLinux
package import BghostModel
internal import BghostTransfer
internal import Synchronization

/// Sends alerts and heartbeats by HTTP, or through a program.
///
/// Any thread may use it. Its connections are its own, so that no plugin's fetches delay an alert. Addresses
/// are the operator's, so they may be on this machine or in its network.
package final class HTTPAlertTransport: AlertTransport {
    /// How long one attempt may take.
    private static let timeout = Duration.seconds(15)
    /// ntfy makes a file of a longer text.
    private static let ntfyBytesMax = 4000
    /// The most bytes of an answer that are read.
    private static let answerBytesMax = 64 << 10
    /// The most bytes of reasons in an address, for Uptime Kuma.
    private static let queryBytesMax = 512

    private let fetcher: HTTPFetcher

    package init() { fetcher = HTTPFetcher(reachesLocalNames: true) }

    /// Ends every exchange.
    package func shutDown() async { await fetcher.shutDown() }

    package func send(
        _ delivery: AlertDelivery,
        to receiver: AlertReceiver,
        spawner: Spawner
    ) async -> Result<String, AlertFailure> {
        switch receiver {
        case .webhook(let url, let headers, let secret):
            let body = Array(delivery.text.json.utf8)
            var all = [("Content-Type", "application/json")]
            all += headers.map { ($0.name, $0.value) }
            if let secret {
                let code = HMACSHA256.code(of: body, key: Array(secret.utf8))
                all.append(("X-Bghost-Signature", "sha256=" + code.hexText))
            }
            return await post(url, all, body)
        case .ntfy(let url, let token):
            var headers = [
                ("Title", delivery.text.title), ("Priority", Self.priority(delivery.message)),
                ("Tags", delivery.message.isAlarming ? "rotating_light" : "white_check_mark"),
            ]
            if let token { headers.append(("Authorization", "Bearer \(token)")) }
            return await post(
                url,
                headers,
                Array(delivery.text.body.shortened(toBytes: Self.ntfyBytesMax).utf8)
            )
        case .command(let arguments, let address):
            let text = delivery.text
            let input = address.map { text.mail(to: $0) } ?? text.title + "\n\n" + text.body
            return await AlertProgram(arguments: arguments, input: input).run(spawner)
        case .notifications:
            return .failure(AlertFailure("the daemon delivers notifications itself"))
        }
    }

    package func beat(_ url: String, reasons: String) async -> Result<String, AlertFailure> {
        if let query = Self.kumaQuery(url, reasons) {
            return await exchange(FetchRequest(url: query, timeout: Self.timeout))
        }
        guard !reasons.isEmpty else {
            return await exchange(FetchRequest(url: url, timeout: Self.timeout))
        }
        let (path, query) = Self.parts(url)
        let separator = path.hasSuffix("/") ? "" : "/"
        return await post(
            path + separator + "fail" + query,
            [("Content-Type", "text/plain; charset=utf-8")],
            Array(reasons.utf8)
        )
    }

    // MARK: Addresses

    /// The address of a push monitor of Uptime Kuma with its state; `nil` if it is another address.
    private static func kumaQuery(_ url: String, _ reasons: String) -> String? {
        let (path, _) = parts(url)
        guard path.contains("/api/push/") else { return nil }
        guard !reasons.isEmpty else { return path + "?status=up&msg=OK" }
        return path + "?status=down&msg="
            + PercentText.encoded(reasons.shortened(toBytes: queryBytesMax))
    }

    /// The URL up to its query, and the query with its question mark.
    private static func parts(_ url: String) -> (path: String, query: String) {
        guard let mark = url.firstIndex(of: "?") else { return (url, "") }
        return (String(url[..<mark]), String(url[mark...]))
    }

    /// The priority of ntfy, 1 to 5.
    private static func priority(_ message: AlertMessage) -> String {
        guard message.isAlarming else { return "3" }
        let isGrave = message.items.contains {
            $0.state != .resolved && [.store, .receiver].contains($0.key.rule)
        }
        return isGrave ? "5" : "4"
    }

    // MARK: Exchanges

    private func post(
        _ url: String,
        _ headers: [(String, String)],
        _ body: [UInt8]
    ) async -> Result<String, AlertFailure> {
        var request = FetchRequest(
            url: url,
            method: "POST",
            headers: headers,
            body: .bytes(body),
            bytesMax: Self.answerBytesMax,
            timeout: Self.timeout
        )
        // A page that answers a GET says nothing about the message.
        request.keepsMethod = true
        return await exchange(request)
    }

    /// Any status of success is one; a redirect may not lead to another server, which would get secrets.
    private func exchange(_ request: FetchRequest) async -> Result<String, AlertFailure> {
        let server = Mutex<String?>(nil)
        do throws(FetchFailure) {
            let response = try await fetcher.fetch(request) { host, port in
                server.withLock { known in
                    let target = "\(host):\(port)"
                    if known == nil { known = target }
                    return known == target
                }
            }
            guard (200..<300).contains(response.status) else {
                return .failure(AlertFailure("it answered \(response.status)"))
            }
            return .success("it answered \(response.status)")
        } catch {
            if case .permissionDenied = error {
                return .failure(
                    AlertFailure("it redirects to another server, which is not followed")
                )
            }
            return .failure(AlertFailure(error.description))
        }
    }
}
