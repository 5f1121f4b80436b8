// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import Testing

@Suite struct CanonicalTextTests {
    private struct Whole {
        var names: Set<String>
        var counts: [String: Int]
        var list = [1, 2]
        var optional: Int?
        var choice: Outcome = .killed(.memory)
        var pair = (1, b: "x")
    }

    @Test func `Sets and dictionaries have an order`() {
        let whole = Whole(names: ["b", "a", "c"], counts: ["y": 2, "x": 1])
        #expect(
            CanonicalText(whole).text
                == #"Whole(names: {"a", "b", "c"}, counts: {(key: "x", value: 1), "#
                + #"(key: "y", value: 2)}, list: [1, 2], optional: nil, choice: killed(memory), "#
                + #"pair: (.0: 1, b: "x"))"#
        )
    }

    /// Sets with the same elements differ in their order as soon as they were filled otherwise.
    @Test func `The text of a manifest depends on its content only`() {
        var plugin = PluginDefinition(name: "p", library: "p.so")
        plugin.require = Set(SandboxLayer.allCases)
        let manifest = Manifest(plugins: [plugin])
        for count in 1...64 {
            var other = Set<SandboxLayer>(minimumCapacity: count)
            for layer in SandboxLayer.allCases.shuffled() { other.insert(layer) }
            var same = manifest
            same.plugins[0].require = other
            #expect(same.fingerprint == manifest.fingerprint)
        }
        // Recordings of older versions lack what the files contained.
        var written = manifest
        written.written = WrittenDefinitions([WrittenDefinition(.host, "", [("slots", "3")])])
        #expect(written.fingerprint == manifest.fingerprint)
        var other = manifest
        other.plugins[0].require.remove(.seccomp)
        #expect(other.fingerprint != manifest.fingerprint)
    }

    @Test func `Properties that recordings of older versions lack are left out while unset`() {
        var request = Request(
            id: RunID(high: 1, low: 1),
            task: "a",
            parameters: "{}",
            submittedAt: 0,
            priority: 500
        )
        #expect(!CanonicalText(request).text.contains("appended"))
        request.isAppended = true
        #expect(CanonicalText(request).text.contains("appended: true"))
        var schedule = TaskSchedule(times: .every(.seconds(60)))
        #expect(!CanonicalText(schedule).text.contains("randomDelay"))
        schedule.randomDelay = .seconds(1)
        #expect(CanonicalText(schedule).text.contains("randomDelay"))
    }
}
