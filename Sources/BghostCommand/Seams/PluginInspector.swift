// SPDX-License-Identifier: Apache-2.0

/// Shows what a plugin's file says of itself, without running its code.
package enum PluginInspector {
    /// Prints it to the console.
    package static func run(file: String, json: Bool, _ console: Console) async throws -> ExitStatus
    {
        throw CommandFailure(.internalError, "this build has no reader of plugins")
    }
}
