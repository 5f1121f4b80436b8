// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

// Four suites, so that four fixtures are checked at a time: what is judged takes time, and more of
// them would judge the machine. `Scripts/test` lets three tests run at once, and these take as long.

@Suite(.ownThreads, .serialized) struct PluginCheckLoadingTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.loading)
    func `Each fault before the first run fails exactly one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }
}

@Suite(.ownThreads, .serialized) struct PluginCheckRunningTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.running)
    func `Each fault in a run fails exactly one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }
}

@Suite(.ownThreads, .serialized) struct PluginCheckStoppingTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.stopping)
    func `Each fault in a stop or beside a run fails exactly one check`(
        row: PluginCheckFixtures.Row
    ) async throws {
        try await PluginCheckFixtures.check(row)
    }
}

@Suite(.ownThreads, .serialized) struct PluginCheckLastingTests {
    @Test(.timeLimit(.minutes(10)), arguments: PluginCheckFixtures.lasting)
    func `Each fault of timing fails exactly one check`(
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
