// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel
import BghostPolicy

/// The OpenAPI document of the control API, made of the endpoints and the types of their examples.
struct OpenAPI {
    static let path = "docs/openapi.json"

    /// The document as JSON, a member a line.
    static func text() throws -> String {
        try JSONReader.parse(document().compactText).indentedText + "\n"
    }

    static func document() throws -> JSONNode {
        var schemas = try TypeSchemas()
        schemas.add(APISamples.failure)
        _ = schemas.schema(of: API.Failure.self)
        var paths: [(String, [(String, JSONNode)])] = []
        for endpoint in Endpoint.allCases {
            let path = templated(endpoint.path)
            let operation = (endpoint.verb.lowercased(), try operation(endpoint, &schemas))
            if let at = paths.firstIndex(where: { $0.0 == path }) {
                paths[at].1.append(operation)
            } else {
                paths.append((path, [operation]))
            }
        }
        for example in further { schemas.add(example) }
        let missing = schemas.referenced.subtracting(schemas.components.keys)
        guard missing.isEmpty else { throw Missing(types: missing.sorted()) }
        return object([
            ("openapi", .text("3.1.0")),
            ("info", info),
            ("servers", .list([object([("url", .text("http://localhost"))])])),
            (
                "tags",
                .list(APIReference.Group.allCases.map { object([("name", .text($0.rawValue))]) })
            ),
            ("paths", object(paths.map { ($0.0, object($0.1)) })),
            (
                "components",
                object([
                    (
                        "schemas",
                        object(schemas.components.sorted { $0.key < $1.key }.map { ($0, $1) })
                    )
                ])
            ),
        ])
    }

    /// Values with what the examples of the answers leave out.
    private static var further: [Any] {
        [
            APISamples.logLine, API.Run(APISamples.fullRun), API.Why(APISamples.explanations[0]),
            API.Status(APISamples.statuses[1]), APISamples.notification,
            ReadinessReport(reasons: [.init("stopping", "it is stopping")]),
            StatusProblem(.store, "", "the disk is full"),
        ]
    }

    /// Types that are referred to and have no example.
    struct Missing: Error {
        let types: [String]
    }

    private static var info: JSONNode {
        object([
            ("title", .text("The control API of bghost")),
            ("version", .text("1")),
            (
                "description",
                .text(
                    """
                    The daemon answers at its control socket, a Unix socket: send the requests of this \
                    document to it, with `localhost` for the host. docs/API.md says what holds for all of \
                    them. Readers accept keys that a schema does not list: a later version adds them.
                    """
                )
            ),
            (
                "license",
                object([("name", .text("Apache-2.0")), ("identifier", .text("Apache-2.0"))])
            ),
        ])
    }

    // MARK: An endpoint

    private static func operation(
        _ endpoint: Endpoint,
        _ schemas: inout TypeSchemas
    ) throws -> JSONNode {
        var members: [(String, JSONNode)] = [
            ("operationId", .text("\(endpoint)")),
            ("tags", .list([.text(endpoint.group.rawValue)])),
            ("summary", .text(endpoint.summary)),
            ("x-bghost-role", .text(endpoint.role.rawValue)),
        ]
        let parameters =
            pathParameters(endpoint.path)
            + endpoint.queryKeys.map { parameter($0.name, "query", $0.summary) }
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body = endpoint.bodyExample {
            schemas.add(body)
            let content = json(schemas.schema(of: type(of: body)))
            members.append(
                (
                    "requestBody",
                    object([
                        ("required", JSONNode(.bool(endpoint != .trigger))), ("content", content),
                    ])
                )
            )
        }
        members.append(("responses", try responses(endpoint, &schemas)))
        return object(members)
    }

    private static func responses(
        _ endpoint: Endpoint,
        _ schemas: inout TypeSchemas
    ) throws -> JSONNode {
        let (status, answer) = endpoint.sample
        var all: [(String, JSONNode)] = [
            (
                "\(status)",
                object([
                    ("description", .text("`\(answer.name)`\(note(endpoint))")),
                    ("content", content(of: answer, &schemas)),
                ])
            )
        ]
        if endpoint == .trigger {
            let (_, run) = Endpoint.run.sample
            let ended = [
                ("description", JSONNode.text("`\(run.name)`; with `wait=true`")),
                ("content", content(of: run, &schemas)),
            ]
            all.append(("200", object(ended)))
        }
        let codes = (endpoint.codes + APIReference.common).map { "\($0.rawValue) \($0)" }
        all.append(
            (
                "default",
                object([
                    ("description", .text("A refusal: \(codes.joined(separator: ", "))")),
                    ("content", json(schemas.schema(of: API.Failure.self))),
                ])
            )
        )
        return object(all)
    }

    /// What `docs/API.md` says of the answer, without its links.
    private static func note(_ endpoint: Endpoint) -> String {
        // Another status has a response of its own.
        guard endpoint != .trigger else { return "" }
        return endpoint.answerNote.replacing(/\[(`[^`]+`)\]\([^)]*\)/) { $0.output.1 }
    }

    private static func content(
        of answer: APIReference.Answer,
        _ schemas: inout TypeSchemas
    ) -> JSONNode {
        guard let body = answer.body else {
            return object([
                ("text/plain", object([("schema", object([("type", .text("string"))]))]))
            ])
        }
        schemas.add(body)
        // The name of the answer is a member beside those of its body.
        let name = object([("const", .text(answer.name))])
        let named = object([
            ("type", .text("object")), ("properties", object([("schema", name)])),
            ("required", .list([.text("schema")])),
        ])
        return json(object([("allOf", .list([schemas.schema(of: type(of: body)), named]))]))
    }

    private static func json(_ schema: JSONNode) -> JSONNode {
        object([("application/json", object([("schema", schema)]))])
    }

    // MARK: Parameters

    /// `/v1/runs/{id}` of `/v1/runs/:id`.
    private static func templated(_ path: String) -> String {
        path.split(separator: "/").map { $0.hasPrefix(":") ? "/{\($0.dropFirst())}" : "/\($0)" }
            .joined()
    }

    private static func pathParameters(_ path: String) -> [JSONNode] {
        path.split(separator: "/").filter { $0.hasPrefix(":") }.map { word in
            let name = String(word.dropFirst())
            let what =
                path.hasPrefix("/v1/tasks")
                ? "The identifier of the task."
                : path.hasPrefix("/v1/tags")
                    ? "The tag."
                    : name == "name"
                        ? "The name of the plugin." : "The id, or the beginning of one."
            return parameter(name, "path", what)
        }
    }

    private static func parameter(_ name: String, _ place: String, _ summary: String) -> JSONNode {
        object([
            ("name", .text(name)), ("in", .text(place)), ("description", .text(summary)),
            ("required", JSONNode(.bool(place == "path" || summary.hasSuffix("; needed.")))),
            ("schema", object([("type", .text("string"))])),
        ])
    }

    private static func object(_ members: [(String, JSONNode)]) -> JSONNode {
        TypeSchemas.object(members)
    }
}

extension JSONNode {
    static func list(_ nodes: [JSONNode]) -> JSONNode { JSONNode(.array(nodes)) }

    /// The value as JSON without white space.
    var compactText: [UInt8] {
        var writer = JSONWriter(reservingBytes: 64 << 10)
        writer.value(self)
        return writer.bytes
    }
}

extension Endpoint {
    /// The body of a request, with each of its keys; `nil` if it has none.
    fileprivate var bodyExample: Any? {
        switch self {
        case .submit, .trigger: API.SubmitBody(Submission(task: APISamples.task))
        case .act: API.ActBody(id: "weather", plugin: nil, action: "open", text: nil)
        case .beginSession: API.TicketBody(ticket: "x")
        default: nil
        }
    }
}
