// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostModel
import BghostTestSupport
import Testing

@Suite struct CrashRegistryTests {
    private static let second: UInt64 = 1_000_000_000
    private let name = "photos"

    private func makeRegistry(host: String = "1.0") -> CrashRegistry {
        CrashRegistry(limits: CrashLoop.Limits(), loadBackoff: Self.second, hostBuild: host)
    }

    /// A registry whose plugin is quarantined with a known library.
    private func quarantined(_ library: String = "abc") throws -> CrashRegistry {
        let registry = makeRegistry()
        let quarantine = try #require(registry.quarantine(name, "it crashed", wall: 7))
        _ = try #require(registry.identify(quarantine, library: library))
        return registry
    }

    @Test func `Crashes lead to longer and longer pauses, and then to quarantine`() {
        let registry = makeRegistry()
        var now: MonotonicInstant = 100_000_000_000
        for length in [1, 2, 4, 8] as [UInt64] {
            let end = now + length * Self.second
            #expect(registry.crashed(name, "SIGSEGV", now: now) == .pause(until: end))
            // A worker that started before the pause crashes during it.
            #expect(registry.crashed(name, "SIGSEGV", now: now + 1) == .counted)
            now = end
        }
        #expect(
            registry.crashed(name, "SIGSEGV", now: now)
                == .quarantine("SIGSEGV; 5 crashes in 10 min")
        )
        #expect(!registry.isQuarantined(name), "the host quarantines it, not the verdict")
        #expect(registry.crashed("other", "SIGSEGV", now: now) == .pause(until: now + Self.second))
    }

    @Test func `The third failed load in a row leads to quarantine`() {
        let registry = makeRegistry()
        #expect(registry.loadFailed(name, "no", now: 5) == .pause(until: 5 + Self.second))
        #expect(registry.loadFailed(name, "no", now: 5) == .pause(until: 5 + 2 * Self.second))
        registry.forgetLoadFailures(name)
        #expect(registry.loadFailed(name, "no", now: 5) == .pause(until: 5 + Self.second))
        #expect(registry.loadFailed(name, "no", now: 5) == .pause(until: 5 + 2 * Self.second))
        #expect(registry.loadFailed(name, "no", now: 5) == .quarantine("no (3 times)"))
    }

    @Test func `A quarantined plugin causes nothing more, and is quarantined once`() throws {
        let registry = try quarantined()
        #expect(registry.isQuarantined(name) && registry.hasQuarantine(name))
        #expect(registry.quarantine(name, "again", wall: 8) == nil)
        #expect(registry.crashed(name, "SIGSEGV", now: 1) == .counted)
        #expect(registry.loadFailed(name, "no", now: 1) == .counted)
        #expect(registry.quarantine(of: name)?.reason == "it crashed")
        #expect(registry.quarantine(of: name)?.library == "abc")
    }

    @Test func `The same library in the same host stays quarantined, also while it cannot be read`()
        throws
    {
        for (library, isHeld) in [("abc", true), (nil, true), ("abd", false), ("", true)] {
            let registry = try quarantined()
            let check = registry.check(name, library: library)
            let quarantine = registry.quarantine(of: name)
            #expect(isHeld ? check == quarantine.map(CrashRegistry.Check.held) : check == .trial)
            #expect(registry.isOnTrial(name) == !isHeld, "\(library ?? "unknown")")
        }
        // Its library was never read, so nothing can be compared with it.
        #expect(try quarantined("").check(name, library: "abc") == .trial)
        #expect(try quarantined("").check(name, library: nil) == .trial)
    }

    @Test func `A library that is away for a while stays quarantined when it comes back`() throws {
        let registry = try quarantined()
        let quarantine = try #require(registry.quarantine(of: name))
        #expect(registry.check(name, library: "") == .held(quarantine))
        #expect(registry.check(name, library: "abc") == .held(quarantine))
        #expect(registry.check(name, library: "") == .held(quarantine))
        #expect(registry.check(name, library: "abd") == .trial)
    }

    @Test func `A quarantine holds while its library is being hashed`() throws {
        let registry = makeRegistry()
        let quarantine = try #require(registry.quarantine(name, "it crashed", wall: 7))
        for library in ["abc", "", nil] {
            #expect(registry.check(name, library: library) == .held(quarantine))
        }
        let known = try #require(registry.identify(quarantine, library: "abc"))
        #expect(registry.check(name, library: "abc") == .held(known))
        #expect(registry.check(name, library: "abd") == .trial)
    }

    @Test func `Another build of the host tries the plugin once`() throws {
        let kept = try #require(try quarantined().quarantine(of: name))
        let same = makeRegistry()
        same.recover([kept])
        #expect(same.check(name, library: nil) == .held(kept))
        let other = makeRegistry(host: "1.1")
        other.recover([kept])
        #expect(other.check(name, library: nil) == .trial)
        #expect(!other.isQuarantined(name) && other.hasQuarantine(name))
    }

    @Test func `The first crash or failed load in that try quarantines again`() throws {
        let crashing = try quarantined()
        #expect(crashing.check(name, library: "new") == .trial)
        // A trial begins once.
        #expect(crashing.check(name, library: "new") == .free)
        #expect(crashing.crashed(name, "SIGSEGV", now: 1) == .quarantine("SIGSEGV"))
        #expect(crashing.quarantine(name, "SIGSEGV", wall: 9)?.since == 9)
        #expect(crashing.isQuarantined(name) && !crashing.isOnTrial(name))

        let failing = try quarantined()
        #expect(failing.check(name, library: "new") == .trial)
        #expect(failing.loadFailed(name, "no", now: 1) == .quarantine("no"))
    }

    @Test func `A new version from a reload is checked against the quarantine again`() throws {
        let registry = try quarantined()
        #expect(registry.check(name, library: "new") == .trial)
        registry.versionReplaced(name)
        #expect(!registry.isOnTrial(name))
        let quarantine = try #require(registry.quarantine(of: name))
        #expect(registry.check(name, library: "abc") == .held(quarantine))
    }

    @Test func `A late library hash does not restore a lifted quarantine`() throws {
        let registry = makeRegistry()
        let first = try #require(registry.quarantine(name, "it crashed", wall: 7))
        #expect(registry.clear(name))
        #expect(!registry.clear(name))
        #expect(registry.identify(first, library: "abc") == nil)
        _ = registry.quarantine(name, "it crashed", wall: 8)
        #expect(registry.identify(first, library: "abc") == nil)
        #expect(!registry.isOnTrial(name) && registry.isQuarantined(name))
    }

    @Test func `A reason of any length is kept short`() throws {
        let text = String(repeating: "é", count: 5000)
        let quarantine = try #require(makeRegistry().quarantine(name, text, wall: 0))
        #expect(quarantine.reason.count == 1000)
    }

    @Test func `The status shows killed idle workers for as long as a crash counts`() {
        let registry = makeRegistry()
        registry.idleWorkerEnded(name, for: "used a processor", now: 10, wall: 5)
        #expect(registry.idleEnds(of: name, now: 10)?.count == 1)
        #expect(registry.idleEnds(of: name, now: 10 + 601 * Self.second) == nil)
        #expect(registry.idleEnds(of: "other", now: 10) == nil)
    }

    @Test func `A removed plugin is forgotten when nothing that it did counts any more`() throws {
        let registry = try quarantined()
        let window = MonotonicInstant.zero + CrashLoop.Limits().window
        for number in 0..<1000 { _ = registry.crashed("plugin-\(number)", "SIGSEGV", now: 1) }
        _ = registry.loadFailed("other", "no", now: 1)
        _ = registry.crashed("kept", "SIGSEGV", now: 1)
        registry.forget(except: ["kept"], now: window)
        // Crashes count, so a plugin that comes back has them.
        #expect(registry.historyCount == 1002)
        #expect(
            registry.crashed("plugin-7", "SIGSEGV", now: window)
                == .pause(until: window + 2 * Self.second)
        )
        registry.forget(except: ["kept"], now: window + 1)
        // What is left: the quarantine, the plugin of the manifest and the one that has just crashed.
        #expect(registry.historyCount == 3)
        #expect(registry.isQuarantined(name))
    }
}
