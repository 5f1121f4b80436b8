// SPDX-License-Identifier: Apache-2.0

import BghostFleetRules
import BghostFleetSupport
import Testing

/// Each check of `FleetConformance` can fail.
@Suite struct FleetConformanceTests {
    private typealias Conformance = FleetConformance<BrokenFleet.Harness>

    /// For each check, an error of a store that it finds.
    private static let flaws: [String: BrokenFleet.Flaw] = [
        "grants the share of a host": .grantsTooFew,
        "a second taker gets what is free only": .ignoresSlots,
        "a host without slots leaves all to the others": .ignoresOffers,
        "grants of each pool are apart": .ignoresPools,
        "releases only what the host owns": .releasesForAll,
        "grants anew what the host does not hold": .keepsEpochs,
        "a registration ends the one before": .ignoresFence,
        "refuses a delayed registration": .registersAlways,
        "a host that leaves frees its partitions": .neverLeaves,
        "takes nothing from a dead host without the rule": .alwaysReaps,
        "takes a dead host's partitions": .neverReaps,
        "batches and connections renew the lease": .renewsNothing,
        "refuses an earlier connection": .ignoresConnections,
        "refuses a host that it does not know": .trustsStrangers,
        "keeps requests, leases, dead letters and memories": .losesMemories,
        "a request keeps its row through its runs": .hidesRuns,
        "partitions are apart": .mixesPartitions,
        "a batch counts once": .ignoresNumbers,
        "batches have no gap": .ignoresNumbers,
        "says whether an unanswered batch was kept": .forgetsNumbers,
        "shows that the store went back": .remembersNumbers,
        "refuses a batch that does not fit": .comparesNothing,
        "an end counts only under its lease": .comparesNothing,
        "each task has one pending request": .comparesNothing,
        "refuses a lost registration": .ignoresNonces,
        "refuses a lost connection": .ignoresNonces,
        "refuses a registration after a lost one": .ignoresNonces,
        "refuses the owner of a lost grant": .claimsOnOldConnection,
        "permits what an unanswered call began": .refusesUnanswered,
        "keeps submissions until a batch takes them": .losesLetters,
        "keeps a submission once that is posted again": .doublesLetters,
        "moves a request once for good": .movesAgain,
        "shows submissions to their owner": .showsAllLetters,
        "a submission is taken once": .keepsTakenLetters,
        "names the owners": .namesNoOwners,
        "lists what waits, runs and died, on whichever host": .listsNoRuns,
        "lists all in parts, each once": .listsOnlyFirstPart,
        "lists the tasks that are asked for": .listsAllTasks,
        "keeps a cancel until its request has ended": .losesCancels,
        "shows cancels to the owner": .showsAllCancels,
        "shows submissions in parts": .showsFirstLettersOnly,
        "shows cancels in parts": .showsFirstCancelsOnly,
    ]

    @Test func `Each check has an error, and each error a check`() {
        #expect(Set(Self.flaws.keys) == Set(Conformance.checks.map(\.testDescription)))
        #expect(Set(Self.flaws.values) == Set(BrokenFleet.Flaw.allCases))
    }

    @Test(arguments: FleetConformance<BrokenFleet.Harness>.checks)
    func `A check finds its error, and nothing without it`(
        _ check: FleetConformance<BrokenFleet.Harness>.Check
    ) throws {
        let flaw = try #require(Self.flaws[check.testDescription])
        #expect(check.fails(BrokenFleet.Harness(flaw)))
        #expect(!check.fails(BrokenFleet.Harness(nil)))
    }
}
