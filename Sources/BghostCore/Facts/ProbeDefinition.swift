// SPDX-License-Identifier: Apache-2.0

/// A program of the operator's that says whether something holds.
///
/// It exits with 0 if so and with 1 if not; anything else says that it could not tell. The first line
/// of its output is shown as the reading.
package struct ProbeDefinition: Equatable, Sendable {
    package var name: String
    /// The program's absolute path and its arguments.
    package var arguments: [String]
    /// From one look to the next, at least a second; a look that takes longer delays the next.
    package var interval: Duration
    /// How long a look may take.
    package var timeout: Duration

    package init(
        name: String,
        arguments: [String],
        interval: Duration = .seconds(30),
        timeout: Duration = .seconds(10)
    ) {
        self.name = name
        self.arguments = arguments
        self.interval = interval
        self.timeout = timeout
    }
}
