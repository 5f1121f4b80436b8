// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The compiled JSON Schema of a handler's parameters.
///
/// The text is untrusted: what it may cost is bounded, to compile and to use. Values are safe to share
/// between threads.
///
///     let schema = try ParameterSchema(#"{"properties": {"retries": {"maximum": 10}}}"#)
///     schema.faults(in: #"{"retries": 12}"#)
///     // [parameters /retries: 12 is above the maximum 10]
package struct ParameterSchema: Sendable {
    /// The most bytes of a schema, as in the ABI.
    package static let textBytesMax = 64 << 10

    /// The schema as it was given.
    package let text: String
    private let rules: [SchemaRule]

    /// Compiles a schema; linear in its text.
    package init(_ text: String) throws(SchemaError) {
        var budget = SchemaBudget()
        try self.init(text, within: &budget)
    }

    /// Compiles one of several schemas, which have a budget together.
    init(_ text: String, within budget: inout SchemaBudget) throws(SchemaError) {
        guard text.utf8.count <= Self.textBytesMax else {
            throw SchemaError(
                "",
                "a schema has at most \(Self.textBytesMax >> 10) KiB, this one \(text.utf8.count) bytes",
                at: ByteSpan(0..<0)
            )
        }
        let root: JSONNode
        do throws(JSONError) {
            root = try JSONReader.parse(text)
        } catch {
            throw SchemaError("", "it is not JSON: \(error)", at: error.span)
        }
        self.text = text
        rules = try SchemaCompiler.compile(root, within: &budget)
    }

    /// Compiles a schema that is a part of another text; errors have their places there.
    package init(_ root: JSONNode) throws(SchemaError) {
        text = root.text
        guard text.utf8.count <= Self.textBytesMax else {
            throw SchemaError(
                "",
                "it has \(text.utf8.count) bytes without white space; 64 KiB are the most",
                at: root.span
            )
        }
        var budget = SchemaBudget()
        rules = try SchemaCompiler.compile(root, within: &budget)
    }

    /// The places where parameters do not fit, at most 20, in the order of the schema.
    ///
    /// - Parameters:
    ///   - parameters: a JSON object as text.
    ///   - isComplete: whether members may no longer be added: a task's own parameters are completed by
    ///     those of a request.
    package func faults(in parameters: String, isComplete: Bool = true) -> [SchemaFault] {
        var steps = 0
        return faults(in: parameters, isComplete: isComplete, steps: &steps)
    }

    /// The same; adds the steps that the check took, of which each takes some 30 ns.
    func faults(in parameters: String, isComplete: Bool = true, steps: inout Int) -> [SchemaFault] {
        // To read a byte of them takes less than a step.
        steps += parameters.utf8.count
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONReader.parse(parameters)
        } catch {
            return [SchemaFault(pointer: "", message: "they are not JSON: \(error)")]
        }
        var evaluator = SchemaEvaluator(rules, isPartial: !isComplete)
        defer { steps += SchemaEvaluator.stepsMax - evaluator.steps }
        do throws(SchemaEvaluator.Exhausted) {
            try evaluator.check(node, 0)
        } catch {
            return [
                SchemaFault(
                    pointer: "",
                    message: "checking them takes too many steps; give less, or simplify the schema"
                )
            ]
        }
        guard evaluator.count > evaluator.faults.count else { return evaluator.faults }
        let rest = evaluator.count - evaluator.faults.count + 1
        return evaluator.faults.dropLast()
            + [SchemaFault(pointer: "", message: "\(rest) more places do not fit")]
    }
}

extension ParameterSchema {
    /// Whether another text was the same schema, whatever the order of its keys is.
    package func isSameSchema(as other: JSONNode) -> Bool {
        // The text was parsed when the schema was made.
        guard let own = try? JSONReader.parse(text) else { return false }
        return CanonicalJSON.bytes(own) == CanonicalJSON.bytes(other)
    }
}

extension ParameterSchema: Equatable {
    package static func == (a: ParameterSchema, b: ParameterSchema) -> Bool {
        a.text.isSameText(as: b.text)
    }
}
