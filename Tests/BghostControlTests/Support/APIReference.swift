// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel

/// The text of `docs/API.md`.
///
/// Each `switch` is without `default`: an endpoint without a text does not compile.
enum APIReference {
    static let path = "docs/API.md"

    static func markdown() throws -> String {
        var page = head
        for group in Group.allCases {
            page += "## \(group.rawValue)\n\n"
            for endpoint in Endpoint.allCases where endpoint.group == group {
                page += try text(of: endpoint)
            }
        }
        page += "## Answers\n\n" + answersHead
        for (name, text) in try answers().sorted(by: { $0.key < $1.key }) {
            let language = text.hasPrefix("{") ? "json" : ""
            page += "### `\(name)`\n\n```\(language)\n\(text)\n```\n\n"
        }
        return String(page.dropLast())
    }

    private static let head = """
        # The control API

        <!-- Written by a test: see "Add an endpoint of the control API" in CONTRIBUTING.md. -->

        The daemon answers HTTP/1.1 at its control socket, a Unix socket: for its own user, root, and the members of
        `host.controlGroup`. The command line uses nothing else:

        ```
        curl --unix-socket /run/bghost/control.sock http://localhost/v1/status
        ```

        [openapi.json](openapi.json) is the same for generators of clients: OpenAPI 3.1, with a schema of each answer.

        * Members of the group with `"controlRole": "read"`, the default, may send `GET`, and ask for a session of the
          dashboard that may only read; with `operate` all else too. The daemon's user and root may send everything. Each request other than `GET` is in the log with its user.
        * `:id` of a run, a dead letter or a transfer may be the beginning of one, if only one begins like it.
        * A query key that an endpoint does not have is refused, and so is an unknown key of a body of a submission. A key
          without a value counts as absent.
        * A request other than `GET` with a body says `Content-Type: application/json`. A body has at most 256 KiB.
        * A `GET` changes no decision of the scheduler.
        * Each answer but that of `/metrics` names its form in `schema`. Keys may be added to a form; its number grows when one is removed or
          changes its meaning. `Bghost-Version` in the header is the daemon's version; a client may send its own.

        A refusal is [`bghost.error/1`](#bghosterror1). `bghost help CODE` explains its code. Each endpoint below lists its own
        codes; every endpoint may answer these:

        \(table(of: common))

        """

    private static let answersHead = """
        An example of each. [openapi.json](openapi.json) says what each key means, with its unit, and when it is absent.
        Times are RFC 3339, durations seconds.


        """

    // MARK: - An endpoint

    private static func text(of endpoint: Endpoint) throws -> String {
        var text = "### `\(endpoint.rawValue)`\n\n\(endpoint.summary)\n\n"
        text += "Needs the role `\(endpoint.role.rawValue)`.\n\n"
        if !endpoint.queryKeys.isEmpty {
            text += "| query | meaning |\n| --- | --- |\n"
            text += endpoint.queryKeys.map { "| `\($0.name)` | \($0.summary) |\n" }.joined() + "\n"
        }
        if let body = endpoint.body { text += "Body: \(body)\n\n" }
        let answer = try endpoint.answer()
        text += "Answers \(answer.status), [`\(answer.schema)`](#\(anchor(answer.schema)))"
        text += "\(endpoint.answerNote).\n\n"
        if !endpoint.codes.isEmpty {
            text += "Refuses with " + endpoint.codes.map(code).joined(separator: ", ") + ".\n\n"
        }
        return text
    }

    private static func anchor(_ schema: String) -> String {
        schema.filter { $0.isLetter || $0.isNumber }
    }

    private static func code(_ code: FaultCode) -> String { "\(code.rawValue) `\(code)`" }

    /// The codes that do not depend on the endpoint.
    static let common: [FaultCode] = [
        .badRequest, .noSuchRoute, .bodyTooLarge, .readOnly, .foreignPage, .contentType,
        .versionSkew, .stopping, .internalError,
    ]

    private static func table(of codes: [FaultCode]) -> String {
        "| code | status | name |\n| --- | --- | --- |\n"
            + codes.map { "| \($0.rawValue) | \($0.httpStatus) | `\($0)` |\n" }.joined()
    }

    // MARK: - The answers

    private static func answers() throws -> [String: String] {
        var answers: [String: String] = [:]
        for endpoint in Endpoint.allCases {
            let answer = try endpoint.answer()
            answers[answer.schema] = answer.json
        }
        let error = Answer(Schema.error, APISamples.failure)
        answers[error.name] = try error.indented()
        answers[Schema.logEntry] = try indented(APICoder.json(APISamples.logLine))
        return answers
    }

    /// An answer by its schema, with an example.
    struct Answer {
        let name: String
        /// The value of the answer; `nil` if it is no JSON.
        let body: Any?
        let json: [UInt8]
        /// An answer that is no JSON.
        private let text: String?

        init<Body>(_ schema: AnswerSchema<Body>, _ body: Body) {
            name = schema.name
            self.body = body
            json = APICoder.json(schema, body)
            text = nil
        }

        init(text: String, named name: String) {
            self.name = name
            body = nil
            json = []
            self.text = text
        }

        func indented() throws -> String { try text ?? APIReference.indented(json) }
    }

    private static func indented(_ json: [UInt8]) throws -> String {
        try JSONReader.parse(json).indentedText
    }

    enum Group: String, CaseIterable {
        case daemon = "The daemon"
        case requests = "Requests"
        case runs = "Runs"
        case deadLetters = "Dead letters"
        case policy = "Throttling and uses"
        case pauses = "Pauses"
        case plugins = "Plugins"
        case simulation = "Simulation"
        case notifications = "Notifications"
        case transfers = "Transfers"
        case dashboard = "The dashboard"
    }
}

extension Endpoint {
    fileprivate func answer() throws -> (status: Int, schema: String, json: String) {
        let (status, answer) = sample
        return (status, answer.name, try answer.indented())
    }
}
