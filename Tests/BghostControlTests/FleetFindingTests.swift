// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostModel
import Testing

/// What is wrong with a fleet, as its hosts stand in the store.
@Suite struct FleetFindingTests {
    private static let second: Int64 = 1_000_000_000

    /// A fleet without a fault, of three hosts.
    private func fleet(_ change: (inout FleetStatus) -> Void = { _ in }) -> FleetStatus {
        var status = FleetStatus(
            name: "web-1",
            validFor: 12 * Self.second,
            hosts: (1...3).map { number in
                FleetHost(
                    name: "web-\(number)",
                    version: "0.2.0",
                    lease: 30 * Self.second,
                    leaseLeft: 27 * Self.second,
                    seenAt: 1_795_262_400_000_000_000,
                    claims: 1,
                    tasks: "a",
                    clock: .init(offset: 2_000_000, error: 1_000_000)
                )
            }
        )
        change(&status)
        return status
    }

    private func kinds(_ status: FleetStatus) -> [FleetFinding.Kind] {
        status.diagnosis.map(\.kind)
    }

    @Test func `A lost lease of partitions and partitions without an owner are problems`() throws {
        let sick = fleet {
            $0.partitionsProblem = "no request of the fleet starts on this host: it is off"
            $0.ownerless = 1
        }
        #expect(kinds(sick) == [.partitions, .ownerless] && sick.needsAttention)
        #expect(sick.diagnosis.count { $0.isProblem } == 2)
        #expect(
            sick.diagnosis[0].message.hasSuffix("it is off") && sick.diagnosis[0].host == "web-1"
        )
        #expect(sick.diagnosis[1].message.contains("1 partition of the fleet has no owner"))
        let away = FleetStatus(name: "web-1", problem: "off", partitionsProblem: "off")
        #expect(kinds(away) == [.store, .partitions])
    }

    @Test func `A fleet without a fault has no finding`() {
        #expect(fleet().diagnosis.isEmpty)
        #expect(FleetStatus().diagnosis.isEmpty)
    }

    @Test func `A store that does not answer is a problem also without hosts`() throws {
        let away = fleet {
            $0.hosts = []
            ($0.problem, $0.validFor) = ("no server: refused", 0)
        }
        let finding = try #require(away.diagnosis.first)
        #expect(kinds(away) == [.store] && finding.isProblem)
        #expect(finding.message.contains("web-1") && finding.message.contains("no server: refused"))
        #expect(kinds(fleet { $0.validFor = 0 }) == [.lease])
    }

    @Test func `A host that died is a problem until an operator drains it`() {
        let died = fleet {
            $0.hosts[1].state = .gone
            $0.hosts[1].leaseLeft = -90 * Self.second
        }
        #expect(kinds(died) == [.gone] && died.diagnosis[0].isProblem)
        #expect(died.diagnosis[0].host == "web-2")
        #expect(
            died.diagnosis[0].message.contains("1 start that it had waits"),
            "\(died.diagnosis)"
        )
        let given = fleet {
            $0.hosts[1].state = .gone
            $0.hosts[1].leaseLeft = .min
            $0.hosts[1].drainedAt = 1
        }
        #expect(kinds(given) == [.gone] && !given.diagnosis[0].isProblem)
        // One that stopped in order is no finding.
        let left = fleet {
            $0.hosts[1].state = .left
            $0.hosts[1].leaseLeft = -90 * Self.second
        }
        #expect(left.diagnosis.isEmpty)
    }

    @Test func `A host that does not renew its lease is one`() {
        let waning = fleet { $0.hosts[2].leaseLeft = 14 * Self.second }
        #expect(kinds(waning) == [.waning] && waning.diagnosis[0].isProblem)
        #expect(waning.diagnosis[0].message.contains("for 16"), "\(waning.diagnosis)")
        // An earlier version does not say how long its lease is.
        #expect(
            fleet {
                $0.hosts[2].leaseLeft = 1
                $0.hosts[2].lease = 0
            }.diagnosis.isEmpty
        )
    }

    @Test(
        arguments: [
            (2_000_000_000, 1_000_000, true), (-2_000_000_000, 1_000_000, true),
            (Int64.min, 1_000_000, true), (Int64.max, 0, true),
            // The answer took so long that it may be right.
            (2_000_000_000, 1_500_000_000, false), (-900_000_000, 0, false),
        ] as [(Int64, Int64, Bool)]
    )
    func `A clock is wrong if that is certain`(offset: Int64, error: Int64, isWrong: Bool) {
        let status = fleet { $0.hosts[0].clock = .init(offset: offset, error: error) }
        #expect(kinds(status) == (isWrong ? [.clock] : []))
        let word = offset > 0 ? "ahead of" : "behind"
        #expect(status.diagnosis.allSatisfy { $0.isProblem && $0.message.contains(word) })
    }

    @Test func `Hosts with other tasks are a problem, and other versions are worth knowing`() {
        let tasks = fleet { $0.hosts[1].tasks = "b" }
        #expect(kinds(tasks) == [.tasks] && tasks.diagnosis[0].isProblem)
        // The odd one out comes first.
        let sentence = "web-2 differ from web-1, web-3"
        #expect(tasks.diagnosis[0].message.hasSuffix(sentence), "\(tasks.diagnosis)")
        // What is not known and what has no lease do not count.
        #expect(fleet { $0.hosts[1].tasks = "" }.diagnosis.isEmpty)
        let gone = fleet { ($0.hosts[1].tasks, $0.hosts[1].state) = ("b", .left) }
        #expect(gone.diagnosis.isEmpty)
        let versions = fleet { $0.hosts[2].version = "0.3.0" }
        #expect(kinds(versions) == [.versions] && !versions.diagnosis[0].isProblem)
        #expect(versions.diagnosis[0].message.contains("0.3.0 on web-3, 0.2.0 on web-1, web-2"))
    }

    @Test func `A drained host is worth knowing, and a fleet that serves nothing is a problem`() {
        let one = fleet { ($0.hosts[0].state, $0.hosts[0].drainedAt) = (.draining, 1) }
        #expect(kinds(one) == [.drained] && !one.diagnosis[0].isProblem)
        let two = fleet { status in
            for index in 0...1 {
                (status.hosts[index].state, status.hosts[index].drainedAt) = (.drained, 1)
            }
        }
        #expect(kinds(two) == [.drained, .drained, .alone])
        let all = fleet { status in
            for index in 0...2 {
                (status.hosts[index].state, status.hosts[index].drainedAt) = (.drained, 1)
            }
        }
        #expect(kinds(all) == [.idle, .drained, .drained, .drained])
        #expect(all.diagnosis[0].isProblem && all.diagnosis[0].remedy.contains("undrain"))
    }

    @Test func `Of a thousand hosts the names of a few are in a message`() {
        let many = fleet { status in
            let host = status.hosts[0]
            status.hosts = (0..<1000).map { number in
                var copy = host
                copy.name = "web-\(number)"
                copy.version = number < 500 ? "0.2.0" : "0.3.0"
                return copy
            }
        }
        #expect(kinds(many) == [.versions])
        #expect(many.diagnosis[0].message.contains("and 495 more"))
        #expect(many.diagnosis[0].message.utf8.count < 250)
    }
}
