// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

// Four suites, so that four fixtures are checked at a time: what is judged takes time, and more of
// them would judge the machine. `Scripts/test` lets three tests run at once, and these take as long.

@Suite(.ownThreads, .serialized) struct PluginCheckLoadingTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.loading)
    func `What is wrong before the first run is found by one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }
}

@Suite(.ownThreads, .serialized) struct PluginCheckRunningTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.running)
    func `What goes wrong in a run is found by one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }
}

@Suite(.ownThreads, .serialized) struct PluginCheckStoppingTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.stopping)
    func `What goes wrong in a stop, or beside a run, is found by one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }
}

@Suite(.ownThreads, .serialized) struct PluginCheckLastingTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.lasting)
    func `What goes wrong in time is found by one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each check has a fixture that it fails`() async throws {
        let checked = try await CheckedPlugin(Fixture.library("Checks/well-behaved"))
        #expect(checked.troubles == [], "\(checked.account)")
        #expect(checked.exitCode == 0)
        let covered = Set(PluginCheckFixtures.all.map(\.check))
        // A file that is no library at all is a test of its own.
        #expect(Set(checked.checks.map(\.name)) == covered.union(["file"]))
    }
}
