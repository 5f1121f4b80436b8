// SPDX-License-Identifier: Apache-2.0

import BghostBundle
import Testing

/// An update to an older version needs consent, also if bghost cannot tell that it is one.
@Suite struct VersionOrderTests {
    /// Each is older than the next.
    @Test(arguments: [
        ["0.9", "0.10", "1.0.0", "1.0.1", "v1.1", "2", "2026.1", "2026.99999999999999999999"],
        ["1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0", "1.0.1-alpha", "1.0.1-beta", "1.0.1"],
        ["2.0.0-rc", "2.0.0-rc.1", "2.0.0-rc.2", "2.0.0-rc.10", "2.0.0"],
        ["2.0-rc2", "2.0-rc10", "2.0"], ["99999999999999999998", "99999999999999999999"],
    ])
    func `Versions of the usual forms have an order`(versions: [String]) {
        for (index, version) in versions.enumerated() {
            for other in versions[(index + 1)...] {
                #expect(VersionOrder(version, comparedWith: other) == .older, "\(version) \(other)")
                #expect(
                    VersionOrder(other, comparedWith: version) == .notOlder,
                    "\(other) \(version)"
                )
            }
            #expect(VersionOrder(version, comparedWith: version) == .notOlder)
        }
    }

    @Test func `The same version in another notation is not older`() {
        for (first, second) in [("1.0", "1.0.0"), ("v2.0", "2.0.0"), ("1.02", "1.2")] {
            #expect(VersionOrder(first, comparedWith: second) == .notOlder)
            #expect(VersionOrder(second, comparedWith: first) == .notOlder)
        }
    }

    @Test(arguments: [
        ("r7", "r8"), ("1.0.0+7", "1.0.0+8"), ("1.0a", "1.0b"), ("1.0", "next"),
        ("1.0-rc1", "1.0-beta2"), ("1.0-a1b", "1.0-a2b"), ("1.0-", "1.0-1"),
    ])
    func `Nothing is guessed about other forms`(first: String, second: String) {
        #expect(VersionOrder(first, comparedWith: second) == .unknown)
        #expect(VersionOrder(second, comparedWith: first) == .unknown)
        #expect(VersionOrder(first, comparedWith: first) == .notOlder)
    }
}
