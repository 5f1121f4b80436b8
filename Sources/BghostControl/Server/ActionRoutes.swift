// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostNotify
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The routes of links to actions: a page with a button, and the answer that the button sends.
///
/// A client that knows a notification's token may answer it. Web pages of other sites do not know tokens, and
/// their requests are refused in any case: the check of `Host` detects a foreign name that resolves to this
/// machine, and the check of `Origin` a foreign page.
struct ActionRoutes: Sendable {
    let notifications: any NotificationControl
    let audit: VerbAudit?
    let port: Int

    /// The most bytes of a body; the text in it has at most 4 KiB.
    private static let bodyBytesMax = 16 << 10

    func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.get("act/:token/:action") { request, context in
            let (token, action) = try Self.parts(context)
            return await ask(request, token, action)
        }
        router.post("act/:token/:action") { request, context in
            let (token, action) = try Self.parts(context)
            return try await answer(request, token, action)
        }
        return router
    }

    private static func parts(_ context: BasicRequestContext) throws -> (String, String) {
        let token = try context.parameters.require("token")
        let action = try context.parameters.require("action")
        return (token, action.removingPercentEncoding)
    }

    // MARK: - The page

    private func ask(_ request: Request, _ token: String, _ action: String) async -> Response {
        if let refusal = refusal(request) { return refusal }
        guard let row = await notifications.notification(token: token) else {
            return Self.unknown
        }
        guard let known = row.actions.first(where: { $0.id == action }) else {
            return Self.unknown
        }
        let page = ActionPage(title: row.title, text: row.body, button: known.title)
        return page.response()
    }

    private static var unknown: Response {
        ActionPage(
            title: "There is nothing here any more",
            text: "The notification is too old, or a newer one has taken its place."
        ).response(.notFound)
    }

    // MARK: - The answer

    private func answer(
        _ request: Request,
        _ token: String,
        _ action: String
    ) async throws -> Response {
        if let refusal = refusal(request) { return refusal }
        if let origin = request.headers[.origin], !origins.contains(origin) {
            return Self.foreign
        }
        let text = try await text(of: request)
        do throws(OperatorRefusal) {
            let shown = text
            try await audited(token, action, text) { () throws(OperatorRefusal) in
                _ = try await notifications.act(on: .token(token), action: action, text: shown)
            }
        } catch {
            switch error.code {
            case .noSuchNotification: return Self.unknown
            case .badAction:
                return ActionPage(title: "It cannot be answered like this", text: error.message)
                    .response(.badRequest)
            default:
                return ActionPage(title: "Not now", text: error.description)
                    .response(.serviceUnavailable)
            }
        }
        return ActionPage(title: "Done", text: "Your answer has been taken.").response(.accepted)
    }

    /// Answers with a row in the audit, which has a part of the token's hash and no text.
    private func audited(
        _ token: String,
        _ action: String,
        _ text: String?,
        _ body: () async throws(OperatorRefusal) -> Void
    ) async throws(OperatorRefusal) {
        guard let audit else { return try await body() }
        try await audit.answerLink(to: token, action: action, text: text, body)
    }

    /// The text of the answer: a body of plain text; `nil` for a form.
    private func text(of request: Request) async throws -> String? {
        let type = request.headers[.contentType] ?? ""
        guard type.hasPrefix("text/plain") else { return nil }
        let body = try await request.body.collect(upTo: Self.bodyBytesMax)
        guard body.readableBytes > 0 else { return nil }
        guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw HTTPError(.badRequest, message: "the text is not UTF-8")
        }
        return text
    }

    // MARK: - Origin checks

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }
    private var origins: [String] { hosts.map { "http://\($0)" } }

    private func refusal(_ request: Request) -> Response? {
        guard let host = request.head.authority, hosts.contains(host.lowercased()) else {
            return Self.foreign
        }
        return nil
    }

    private static var foreign: Response {
        ActionPage(
            title: "Not from there",
            text: "Links to actions work on this machine alone, and from no other page."
        ).response(.forbidden)
    }
}

extension String {
    /// Decodes percent-encoded bytes; invalid sequences are unchanged.
    fileprivate var removingPercentEncoding: String {
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        let bytes = Array(utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
