// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOHTTP1

extension ControlClient {
    /// Explains why a task, or the request whose id has this prefix, does not run.
    package func explain(_ id: String) async throws -> Answer<TaskExplanation> {
        try await call(.GET, ControlPath("why").with("id", id), Schema.why) { $0.explanation }
    }

    /// Simulates a requirement, such as `network=off`.
    ///
    /// - Returns: everything that is now simulated.
    package func simulate(fact: String) async throws -> Answer<SimulationStatus> {
        try await simulate("fact", fact)
    }

    /// Moves the daemon's wall clock, such as `+6h`.
    ///
    /// - Returns: everything that is now simulated.
    package func simulate(clock: String) async throws -> Answer<SimulationStatus> {
        try await simulate("clock", clock)
    }

    private func simulate(_ what: String, _ value: String) async throws -> Answer<SimulationStatus>
    {
        try await call(.POST, ControlPath("simulate", what).with("set", value), Schema.simulate)
    }
}
