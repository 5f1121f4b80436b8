// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The schemas that a plugin declares, by handler.
package struct HandlerSchemas: Sendable {
    /// The most bytes of a plugin's schemas; those beyond it are not used.
    package static let bytesMax = 1 << 20
    /// The most handlers of a plugin, as in the ABI.
    private static let handlersMax = 256

    /// The schemas that can be checked.
    package private(set) var schemas: [String: ParameterSchema] = [:]
    /// Why the schemas of other handlers cannot be checked, by handler.
    package private(set) var problems: [String: String] = [:]
    private var bytes = 0
    private var budget = SchemaBudget()

    package init() {}

    /// Compiles schemas.
    ///
    /// - Parameter texts: the texts by handler; an empty text is no schema.
    package init(_ texts: [(handler: String, text: String)]) {
        for (handler, text) in texts { add(text, for: handler) }
    }

    package mutating func add(_ text: String, for handler: String) {
        guard !text.isEmpty, schemas.count + problems.count < Self.handlersMax else { return }
        bytes += text.utf8.count
        guard bytes <= Self.bytesMax else {
            problems[handler] =
                "the schemas of the plugin have more than \(Self.bytesMax >> 10) KiB together"
            return
        }
        do throws(SchemaError) {
            schemas[handler] = try ParameterSchema(text, within: &budget)
        } catch {
            problems[handler] = PrintableText.escaped(error.description)
        }
    }
}

extension HandlerSchemas: Equatable {
    package static func == (a: HandlerSchemas, b: HandlerSchemas) -> Bool {
        a.schemas == b.schemas && a.problems == b.problems
    }
}
