// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostTestSupport
import Glibc
import Testing

/// The OpenAPI document says what the server answers.
@Suite(.timeLimit(.minutes(5))) struct OpenAPITests {
    /// The document is written anew after a change by the following.
    ///
    /// `BGHOST_WRITE_API=1 swift test --skip-build --disable-xctest --filter OpenAPITests`
    @Test func `docs/openapi.json matches the generated document`() throws {
        let path = PackageRoot.path + "/" + OpenAPI.path
        let generated = try OpenAPI.text()
        if getenv("BGHOST_WRITE_API") != nil { try File.write(generated.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == generated, "set BGHOST_WRITE_API=1 to write the document anew")
    }

    @Test func `Each endpoint is an operation`() throws {
        let paths = try #require(try OpenAPI.document()["paths"]?.object)
        let operations = paths.flatMap { path in
            (path.value.object ?? []).compactMap { $0.value["operationId"]?.string }
        }
        #expect(operations.sorted() == Endpoint.allCases.map { "\($0)" }.sorted())
    }

    @Test func `Each reference has its schema`() throws {
        let document = try OpenAPI.document()
        var references: Set<String> = []
        Self.collect(document, into: &references)
        #expect(references.count > 20)
        for reference in references {
            #expect(try Self.resolved(reference, in: document).object != nil, "\(reference)")
        }
    }

    @Test func `Each example of an answer fits its schema`() throws {
        let document = try OpenAPI.document()
        for endpoint in Endpoint.allCases {
            let answer = endpoint.sample.answer
            guard let body = answer.body else { continue }
            var schemas = try TypeSchemas()
            let schema = schemas.schema(of: type(of: body))
            var example = try APICoder.parsed(answer.json)
            if case .object(let members) = example.value {
                example.value = .object(members.filter { $0.key != "schema" })
            }
            let faults = try Self.faults(of: example, as: schema, at: answer.name, in: document)
            #expect(faults.isEmpty, "\(endpoint): \(faults.prefix(5))")
        }
    }

    @Test func `What does not fit a schema is seen`() throws {
        let document = try OpenAPI.document()
        let schema = TypeSchemas.object([("$ref", .text("#/components/schemas/CancelledRun"))])
        func faults(_ text: String) throws -> Int {
            try Self.faults(of: JSONReader.parse(text), as: schema, at: "", in: document).count
        }
        #expect(try faults(#"{"graceSeconds":1,"run":"0","task":"a"}"#) == 0)
        #expect(try faults(#"{"graceSeconds":1,"run":"0"}"#) == 1)
        #expect(try faults(#"{"graceSeconds":"1","run":"0","task":"a"}"#) == 1)
        #expect(try faults(#"{"graceSeconds":1,"run":"0","task":"a","other":1}"#) == 1)
    }

    // MARK: Looks

    private static func collect(_ node: JSONNode, into references: inout Set<String>) {
        for member in node.object ?? [] {
            if member.key == "$ref", let text = member.value.string { references.insert(text) }
            collect(member.value, into: &references)
        }
        for element in node.array ?? [] { collect(element, into: &references) }
    }

    private static func resolved(_ reference: String, in document: JSONNode) throws -> JSONNode {
        var node = document
        for key in reference.split(separator: "/").dropFirst() {
            node = try #require(node[String(key)], "\(reference)")
        }
        return node
    }

    /// Where a value is not what its schema says, or has a key that the schema does not list.
    private static func faults(
        of value: JSONNode,
        as schema: JSONNode,
        at place: String,
        in document: JSONNode
    ) throws -> [String] {
        if let reference = schema["$ref"]?.string {
            let target = try resolved(reference, in: document)
            return try faults(of: value, as: target, at: place, in: document)
        }
        if let choices = schema["anyOf"]?.array {
            let all = try choices.map { try faults(of: value, as: $0, at: place, in: document) }
            return all.contains([]) ? [] : all.first ?? []
        }
        if let names = schema["enum"]?.array, !names.contains(value) {
            return ["\(place): another name"]
        }
        let types =
            schema["type"]?.array?.compactMap(\.string)
            ?? [schema["type"]?.string].compactMap(\.self)
        guard !types.isEmpty else { return [] }
        let kind = Self.kind(of: value)
        guard types.contains(kind) || (kind == "integer" && types.contains("number")) else {
            return ["\(place): \(kind) instead of \(types)"]
        }
        if let items = schema["items"] {
            return try (value.array ?? []).flatMap {
                try faults(of: $0, as: items, at: place + "[]", in: document)
            }
        }
        guard let properties = schema["properties"] else { return [] }
        var found = (schema["required"]?.array ?? []).compactMap(\.string)
            .filter { value[$0] == nil }.map { "\(place).\($0): absent" }
        for member in value.object ?? [] {
            let path = "\(place).\(member.key)"
            guard let property = properties[member.key] else {
                found.append("\(path): not listed")
                continue
            }
            found += try faults(of: member.value, as: property, at: path, in: document)
        }
        return found
    }

    private static func kind(of value: JSONNode) -> String {
        switch value.value {
        case .null: "null"
        case .bool: "boolean"
        case .number(let text): text.contains { ".eE".contains($0) } ? "number" : "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
