// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords
internal import NIOHTTP1

extension ControlClient {
    /// Why a task does not run, or why the request does not whose id begins like this.
    package func explain(_ id: String) async throws -> Answer<TaskExplanation> {
        try await call(.GET, ControlPath("why").with("id", id), read: TaskExplanation.init(json:))
    }

    /// Has a requirement be what somebody says, as in `network=off`.
    ///
    /// - Returns: all that is simulated then.
    package func simulate(fact: String) async throws -> Answer<SimulationStatus> {
        try await simulate("fact", fact)
    }

    /// Moves the daemon's wall clock, as in `+6h`.
    ///
    /// - Returns: all that is simulated then.
    package func simulate(clock: String) async throws -> Answer<SimulationStatus> {
        try await simulate("clock", clock)
    }

    private func simulate(_ what: String, _ value: String) async throws -> Answer<SimulationStatus>
    {
        try await call(
            .POST,
            ControlPath("simulate", what).with("set", value),
            read: SimulationStatus.init(json:)
        )
    }
}
