// SPDX-License-Identifier: Apache-2.0

/// A probe: a program of the operator that checks a condition.
///
/// Exit status 0 means met, 1 means unmet, any other end means unknown. The first line of the output is shown
/// as the reading.
package struct ProbeDefinition: Equatable, Sendable {
    package var name: String
    /// The program's absolute path and its arguments.
    package var arguments: [String]
    /// The time from one start to the next, at least 1 s; a run that takes longer delays the next one.
    package var interval: Duration
    /// The time limit of a run.
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
