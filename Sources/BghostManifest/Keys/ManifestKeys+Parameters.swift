// SPDX-License-Identifier: Apache-2.0

extension ManifestKeys {
    /// The key of a task for the schema of its parameters.
    static let parametersSchema = ManifestKey(
        "parametersSchema",
        .settings,
        "A JSON Schema that the parameters must fit, besides that of the handler."
    )
}
