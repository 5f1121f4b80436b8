// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFleetRules
@testable import BghostFleetStore
import BghostFleetSupport
import BghostModel
import BghostPolicy
import Testing

/// The texts of rows in the fleet's database, which hosts of other versions wrote.
@Suite struct RowTextTests {
    private static let request = FleetSample.request(1)
    private static let run = FleetSample.ended(
        FleetSample.run(2, of: request, epoch: 1 << 40),
        .killed(.memory)
    )
    private static let letter = FleetLetter(request, .append)
    private static let memory = TaskMemory(identifier: "a", lastServedTime: 7)

    /// A new property has to be optional, or the rows of a fleet that is being upgraded cannot be read.
    ///
    /// Texts that a released version wrote are added here, and never changed.
    @Test func `Rows of earlier versions can be read`() throws {
        let request = """
            {"counters":{"failures":0,"interruptions":0,"losses":0},"id":{"high":0,"low":1},\
            "isSimulated":false,"parameters":"{}","priority":500,"requirements":0,\
            "submittedAt":1,"submitter":{"operator":{}},"task":"a","tolerance":0}
            """
        #expect(try BatchText.value(Request.self, request) == Self.request)
        let run = """
            {"attempt":1,"endedAt":1099511627776,"epoch":1099511627776,"id":{"high":0,\
            "low":2},"limits":{"grace":[0,5000000000000000000],\
            "runtime":[1,6553255926290448384]},"message":"",\
            "outcome":{"killed":{"_0":{"memory":{}}}},"plugin":"p","request":{"high":0,\
            "low":1},"result":"","state":"ended","submittedAt":1,"task":"a",\
            "usage":{"outputBytes":0}}
            """
        #expect(try BatchText.value(RunRecord.self, run) == Self.run)
        let memory = """
            {"identifier":"a","lastSlot":7,"schedule":"","served":{"ranges":[]},\
            "throttle":{"changedAt":0,"lastEnd":0,"points":0,"runs":[]},"uses":{"days":[]}}
            """
        #expect(try BatchText.value(TaskMemory.self, memory) == Self.memory)
        let letter = #"{"onConflict":"append","request":\#(request)}"#
        #expect(try BatchText.value(FleetLetter.self, letter) == Self.letter)
    }

    @Test func `A host reads what it writes`() throws {
        #expect(try BatchText.value(Request.self, BatchText.text(Self.request)) == Self.request)
        #expect(try BatchText.value(RunRecord.self, BatchText.text(Self.run)) == Self.run)
        #expect(try BatchText.value(TaskMemory.self, BatchText.text(Self.memory)) == Self.memory)
        #expect(try BatchText.value(FleetLetter.self, BatchText.text(Self.letter)) == Self.letter)
        var lost = Self.request
        lost.counters.takeovers = 2
        #expect(try BatchText.value(Request.self, BatchText.text(lost)) == lost)
    }
}
