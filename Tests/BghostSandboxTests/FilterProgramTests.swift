// SPDX-License-Identifier: Apache-2.0

import BghostSandbox
import Testing

@Suite struct FilterProgramTests {
    private static let machine: UInt32 = 0xC000_003E
    private static let foreign: UInt32 = 0x4000_0000

    private static let policies = [
        SystemCallPolicy(),
        SystemCallPolicy(opensSockets: true),
        SystemCallPolicy(startsProcesses: true),
        SystemCallPolicy(opensSockets: true, startsProcesses: true),
    ]

    /// Numbers of this test's own: the names in an order that a seed decides, with gaps.
    private static func numbers(_ policy: SystemCallPolicy, seed: UInt64) -> [String: UInt32] {
        var state = seed
        var next: UInt32 = 0
        var numbers: [String: UInt32] = [:]
        for name in policy.rules.keys.sorted(by: {
            ($0 + "\(seed)").hashless < ($1 + "\(seed)").hashless
        }) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            next += 1 + UInt32(state >> 61)
            numbers[name] = next
        }
        return numbers
    }

    private static func program(_ policy: SystemCallPolicy, _ numbers: [String: UInt32])
        -> FilterProgram
    {
        FilterProgram(
            policy,
            on: FilterProgram.Architecture(audit: machine, foreignFrom: foreign),
            number: { numbers[$0] }
        )
    }

    private static func denied(_ error: UInt32) -> UInt32 { FilterProgram.Answer.error | error }

    @Test(arguments: 0..<4, [1, 2, 3] as [UInt64])
    func `The filter answers every call number as the policy says`(which: Int, seed: UInt64) throws
    {
        let policy = Self.policies[which]
        let numbers = Self.numbers(policy, seed: seed)
        let machine = FilterMachine(Self.program(policy, numbers).instructions)
        let names = Dictionary(uniqueKeysWithValues: numbers.map { ($1, $0) })
        let last = try #require(numbers.values.max())
        for number in 0...last + 100 {
            let answer = try machine.answer(Self.machine, number)
            guard let name = names[number] else {
                // Newer than all that is known: its users try something older then.
                #expect(answer == Self.denied(number > last ? 38 : 1), "\(number)")
                continue
            }
            switch policy.rules[name] {
            case .allow: #expect(answer == FilterProgram.Answer.allow, "\(name)")
            case .refuse(let error): #expect(answer == Self.denied(UInt32(error)), "\(name)")
            case .when, nil: continue
            }
        }
    }

    @Test(arguments: [0x4000_0003, 0xC000_00B7, 0] as [UInt32])
    func `A call of another architecture kills the process`(architecture: UInt32) throws {
        let policy = SystemCallPolicy()
        let numbers = Self.numbers(policy, seed: 1)
        let machine = FilterMachine(Self.program(policy, numbers).instructions)
        let read = try #require(numbers["read"])
        #expect(try machine.answer(architecture, read) == FilterProgram.Answer.kill)
        for number in [Self.foreign, Self.foreign + read, .max] {
            #expect(try machine.answer(Self.machine, number) == FilterProgram.Answer.kill)
        }
    }

    @Test(
        arguments: [
            // pthread_create
            ("clone", [0x3D_0F00], true, true),
            // The same without CLONE_FILES: a thread with a table of descriptors that the daemon does not see
            ("clone", [0x3D_0B00], false, false),
            ("clone", [0x0001_0000], false, false),
            // CLOSE_RANGE_CLOEXEC, and CLOSE_RANGE_UNSHARE, which gives the thread such a table later
            ("close_range", [3, 9, 0], true, true),
            ("close_range", [3, 9, 4], true, true),
            ("close_range", [3, 9, 2], false, false),
            ("close_range", [3, 9, 6], false, false),
            // A process that shares the table, and one with its own
            ("clone", [0x511], false, true),
            ("clone", [0x111], false, true),
            // fork
            ("clone", [0x120_0011], false, true),
            // vfork
            ("clone", [0x4111], false, true),
            // a thread in a new user namespace, and a brother of the worker
            ("clone", [0x1001_0F00], false, false),
            ("clone", [0x8011], false, false),
            ("prctl", [15], true, true),
            ("prctl", [1], false, false),
            ("prctl", [22], false, false),
            ("ioctl", [0, 0x5401], true, true),
            // TIOCSTI
            ("ioctl", [0, 0x5412], false, false),
            ("fcntl", [0, 1030], true, true),
            // F_SETOWN
            ("fcntl", [0, 8], false, false),
            ("prlimit64", [0], true, true),
            ("prlimit64", [7], false, false),
            // Its upper half is not the kernel's business.
            ("prlimit64", [1 << 32], true, true),
            ("tgkill", [77], true, true),
            ("tgkill", [78], false, true),
            // S_ISUID and S_ISGID, in each call that takes a mode
            ("chmod", [0, 0o755], true, true),
            ("chmod", [0, 0o4755], false, false),
            ("chmod", [0, 0o2755], false, false),
            // S_ISVTX grants no rights.
            ("fchmod", [3, 0o1777], true, true),
            ("fchmod", [3, 0o4000], false, false),
            ("fchmodat", [3, 0, 0o644], true, true),
            ("fchmodat", [3, 0, 0o6755], false, false),
            ("fchmodat2", [3, 0, 0o4755, 0], false, false),
            ("creat", [0, 0o600], true, true),
            ("creat", [0, 0o4700], false, false),
            ("mkdir", [0, 0o755], true, true),
            ("mkdir", [0, 0o2755], false, false),
            ("mkdirat", [3, 0, 0o2755], false, false),
            // O_WRONLY | O_CREAT
            ("open", [0, 0o101, 0o644], true, true),
            ("open", [0, 0o101, 0o4755], false, false),
            // Without it the kernel does not look at the mode, which is then whatever was there.
            ("open", [0, 0, 0o7777], true, true),
            ("openat", [3, 0, 0o101, 0o2644], false, false),
            // O_TMPFILE
            ("openat", [3, 0, 0o20_200_001, 0o4755], false, false),
            // O_DIRECTORY
            ("openat", [3, 0, 0o200_000, 0o4755], true, true),
            // A filter cannot see memory behind a pointer.
            ("openat2", [3, 0, 0, 24], false, false),
            // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE gives back; anything else takes.
            ("fallocate", [3, 3, 0, 4096], true, true),
            ("fallocate", [3, 0, 0, 4096], false, false),
            ("fallocate", [3, 1, 0, 4096], false, false),
        ] as [(String, [UInt64], Bool, Bool)]
    )
    func `The filter checks arguments of calls`(
        name: String,
        arguments: [UInt64],
        isAllowed: Bool,
        isAllowedWithProcesses: Bool
    ) throws {
        for (policy, isExpected) in [
            (SystemCallPolicy(), isAllowed),
            (SystemCallPolicy(startsProcesses: true), isAllowedWithProcesses),
        ] {
            let numbers = Self.numbers(policy, seed: 5)
            let program = Self.program(policy, numbers)
            let machine = FilterMachine(program.replacingOwnProcess(by: 77))
            let number = try #require(numbers[name])
            let answer = try machine.answer(Self.machine, number, arguments)
            #expect((answer == FilterProgram.Answer.allow) == isExpected, "\(name) \(arguments)")
        }
    }

    @Test(
        arguments: [
            ("mmap", 0x7, false), ("mmap", 0x6, false), ("mmap", 0x5, true), ("mmap", 0x3, true),
            ("mprotect", 0x5, false), ("mprotect", 0x4, false), ("mprotect", 0x3, true),
            ("pkey_mprotect", 0x5, false), ("pkey_mprotect", 0x1, true),
        ] as [(String, UInt64, Bool)]
    )
    func `The filter keeps writable memory from becoming code`(
        name: String,
        protection: UInt64,
        isAllowed: Bool
    ) throws {
        for writesCode in [false, true] {
            var policy = SystemCallPolicy()
            policy.writesCode = writesCode
            let numbers = Self.numbers(policy, seed: 3)
            let machine = FilterMachine(Self.program(policy, numbers).instructions)
            let number = try #require(numbers[name])
            let answer = try machine.answer(Self.machine, number, [0, 4096, protection])
            #expect((answer == FilterProgram.Answer.allow) == (isAllowed || writesCode))
        }
    }

    @Test(
        arguments: [
            // MAP_PRIVATE and MAP_SHARED, with MAP_ANONYMOUS and of a file
            (0x22, true), (0x02, true), (0x01, true), (0x21, false), (0x8021, false),
            // MAP_SHARED_VALIDATE
            (0x23, false), (0x03, true),
        ] as [(UInt64, Bool)]
    )
    func `The filter refuses shared anonymous memory where no limit counts it`(
        kind: UInt64,
        isAllowed: Bool
    )
        throws
    {
        for (sharesMemory, writesCode) in [(false, true), (false, false), (true, true)] {
            var policy = SystemCallPolicy()
            policy.sharesMemory = sharesMemory
            policy.writesCode = writesCode
            let numbers = Self.numbers(policy, seed: 6)
            let machine = FilterMachine(Self.program(policy, numbers).instructions)
            let number = try #require(numbers["mmap"])
            let answer = try machine.answer(Self.machine, number, [0, 4096, 3, kind])
            #expect((answer == FilterProgram.Answer.allow) == (isAllowed || sharesMemory))
        }
    }

    @Test func `The filter refuses pages that no limit counts`() throws {
        for policy in [
            SystemCallPolicy(), SystemCallPolicy(opensSockets: true, startsProcesses: true),
        ] {
            let numbers = Self.numbers(policy, seed: 8)
            let machine = FilterMachine(
                Self.program(policy, numbers).replacingOwnProcess(by: 77)
            )
            let number = try #require(numbers["mmap"])
            // MAP_PRIVATE and MAP_ANONYMOUS, with MAP_HUGETLB and a size of it
            for (kind, isAllowed) in [(0x22, true), (0x40022, false), (0x5404_0022, false)]
                as [(UInt64, Bool)]
            {
                let answer = try machine.answer(Self.machine, number, [0, 4096, 3, kind])
                #expect((answer == FilterProgram.Answer.allow) == isAllowed)
            }
        }
    }

    @Test func `Preallocation fails as on a file system without it`() throws {
        let numbers = Self.numbers(SystemCallPolicy(), seed: 7)
        let machine = FilterMachine(Self.program(SystemCallPolicy(), numbers).instructions)
        for (name, error) in [("fallocate", 95), ("openat2", 38)] as [(String, UInt32)] {
            let number = try #require(numbers[name])
            #expect(try machine.answer(Self.machine, number) == Self.denied(error), "\(name)")
        }
    }

    @Test(arguments: [(1, false), (16, false), (2, true), (10, true)] as [(UInt64, Bool)])
    func `The filter permits internet sockets only, or none`(family: UInt64, isAllowed: Bool) throws
    {
        let policy = SystemCallPolicy(opensSockets: true)
        let numbers = Self.numbers(policy, seed: 2)
        let machine = FilterMachine(Self.program(policy, numbers).instructions)
        let number = try #require(numbers["socket"])
        let answer = try machine.answer(Self.machine, number, [family, 1, 0])
        #expect((answer == FilterProgram.Answer.allow) == isAllowed)
        #expect(SystemCallPolicy().rules["socket"] == nil)
    }

    @Test(arguments: ["truncate", "chmod", "utimensat", "setxattr"])
    func `The filter refuses changes by path where files of others are visible`(name: String) throws
    {
        for isAlone in [true, false] {
            var policy = SystemCallPolicy()
            policy.changesAttributes = isAlone
            let numbers = Self.numbers(SystemCallPolicy(), seed: 4)
            let machine = FilterMachine(Self.program(policy, numbers).instructions)
            let number = try #require(numbers[name])
            let answer = try machine.answer(Self.machine, number)
            #expect(answer == (isAlone ? FilterProgram.Answer.allow : Self.denied(1)), "\(name)")
        }
    }

    @Test func `Calls without a number on this machine are left out`() throws {
        let program = Self.program(SystemCallPolicy(), ["read": 0, "write": 9])
        let machine = FilterMachine(program.instructions)
        #expect(try machine.answer(Self.machine, 0) == FilterProgram.Answer.allow)
        #expect(try machine.answer(Self.machine, 5) == Self.denied(1))
        #expect(try machine.answer(Self.machine, 9) == FilterProgram.Answer.allow)
        #expect(try machine.answer(Self.machine, 10) == Self.denied(38))
    }

    @Test func `Consecutive numbers with one answer share a leaf`() {
        let policy = SystemCallPolicy()
        let names = policy.rules.keys.sorted()
        var packed: [String: UInt32] = [:]
        for (index, name) in names.enumerated() { packed[name] = UInt32(index) }
        let spread = packed.mapValues { $0 * 2 }
        let small = Self.program(policy, packed).instructions.count
        #expect(small < Self.program(policy, spread).instructions.count / 4)
    }
}

extension String {
    /// FNV-1a: the same in each process, as `hashValue` is not.
    fileprivate var hashless: UInt64 {
        utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
