// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The schemas that the parameters of one task must fit: that of the manifest and that of the handler.
package struct ParameterRules: Sendable {
    private let schemas: [ParameterSchema]

    package init(_ schemas: [ParameterSchema?]) {
        self.schemas = schemas.compactMap(\.self)
    }

    package var isEmpty: Bool { schemas.isEmpty }

    /// The places where the parameters of a run would not fit.
    ///
    /// - Parameters:
    ///   - base: the task's own parameters, a JSON object.
    ///   - over: those of the request, which are laid over them by key.
    /// - Returns: empty also if a text is no object, which another check finds.
    package func faults(base: String, over: String) -> [SchemaFault] {
        var steps = 0
        return faults(base: base, over: over, steps: &steps)
    }

    /// The same; adds the steps that the check took, of which each takes some 30 ns.
    package func faults(base: String, over: String, steps: inout Int) -> [SchemaFault] {
        // Another check refuses a text that is no object.
        guard !isEmpty, let merged = try? JSONText.overlay(base: base, over: over) else {
            return []
        }
        var faults: [SchemaFault] = []
        for schema in schemas {
            // Both may say the same.
            for fault in schema.faults(in: merged, steps: &steps)
            where !faults.contains(fault) {
                faults.append(fault)
            }
        }
        return faults
    }
}
