// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostTestSupport
import Glibc
import Testing

/// The reference of the control API says what the server does.
@Suite(.timeLimit(.minutes(5))) struct APIReferenceTests {
    /// A daemon whose manifest delivers no notifications.
    private struct NoNotifications: NotificationControl {
        private static let refusal = OperatorRefusal(.unavailable, "there is no sink")

        func outbox() async throws(OperatorRefusal) -> [NotificationStatus] { throw Self.refusal }

        func postTestNotification() async throws(OperatorRefusal) -> NotificationStatus {
            throw Self.refusal
        }

        func notification(token: String) async -> NotificationStatus? { nil }

        func act(
            on notification: NotificationReference,
            action: String,
            text: String?
        ) async throws(OperatorRefusal) -> NotificationAnswer { throw Self.refusal }
    }

    /// The page is written anew after a change by the following.
    ///
    /// `BGHOST_WRITE_API=1 swift test --skip-build --disable-xctest --filter APIReferenceTests`
    @Test func `docs/API.md matches the generated page`() throws {
        let path = PackageRoot.path + "/" + APIReference.path
        let generated = try APIReference.markdown()
        if getenv("BGHOST_WRITE_API") != nil { try File.write(generated.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == generated, "set BGHOST_WRITE_API=1 to write the page anew")
    }

    @Test(arguments: [
        #""tags": ["nightly"]"#, #""submitterRun": ""#, "| `tag` |", "| `submitterRun` |",
        "`replace`, `keep`, `update` or `append`", "### `GET /v1/days`", "### `bghost.days/1`",
    ])
    func `The page has tags, chains and sums by day`(part: String) throws {
        #expect(try APIReference.markdown().contains(part))
    }

    @Test func `Each endpoint has a route, and each route an endpoint`() async throws {
        let host = try await TestHost.start()
        let server = ControlServer(
            host: host.control,
            notifications: NoNotifications(),
            socketPath: "/nowhere"
        )
        #expect(server.routes.sorted() == Endpoint.allCases.map(\.rawValue).sorted())
        await host.end()
    }

    @Test func `The keys of a submission are those that its type reads`() {
        #expect(Set(Endpoint.submitKeys.map(\.name)) == API.SubmitBody.keys)
    }

    @Test func `No code is listed twice`() {
        for endpoint in Endpoint.allCases {
            let codes = endpoint.codes + APIReference.common
            #expect(Set(codes).count == codes.count, "\(endpoint)")
        }
    }

    @Test func `Each endpoint refuses a query key that it does not read`() async throws {
        let ofSessions: [Endpoint] = [.beginSession, .endSession]
        try await Serving.with(notifications: NoNotifications()) { serving in
            for endpoint in Endpoint.allCases where !ofSessions.contains(endpoint) {
                let path = endpoint.path.replacing(":id", with: "x").replacing(":name", with: "x")
                let request =
                    "\(endpoint.verb) \(path)?limitt=%1B1 HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Length: 0\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\n\r\n"
                let answer = try await onThread {
                    let connection = try RawConnection(serving.socketPath)
                    connection.send(request)
                    return connection.receiveAll()
                }
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(endpoint.rawValue): \(answer)")
                #expect(answer.contains("BG4020"), "\(endpoint.rawValue): \(answer)")
                #expect(
                    answer.contains("has no query key `limitt`"),
                    "\(endpoint.rawValue): \(answer)"
                )
            }
        }
        try await DashboardServing.with { serving in
            let token = try serving.session()
            for endpoint in ofSessions {
                let line = "\(endpoint.rawValue)?limitt=%1B1"
                let answer = try await serving.answer(line, token: token, body: "{}")
                #expect(answer.contains("has no query key `limitt`"), "\(answer)")
            }
        }
    }
}
