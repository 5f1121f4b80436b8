// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The objects and answers of the control API, as they are in JSON.
///
/// Records of the daemon that have the same parts are `Codable` themselves (`Records`); the others are
/// converted: `API.Run(record)`, and `run.record` on the way back. `Schema` names each answer.
package enum API {}

// The words of these types are the words of the API.
extension Gate.Kind: Codable {}
extension Isolation: Codable {}
extension LogEntry.Source: Codable {}
extension SandboxLayer: Codable {}
extension ThrottlePolicy.Mode: Codable {}
