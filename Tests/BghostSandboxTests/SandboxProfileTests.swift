// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostSandbox
import Testing

@Suite struct SandboxProfileTests {
    private static func profile(
        _ permissions: Permissions = Permissions(),
        processes: Int = 1,
        isFunction: Bool = false
    ) -> SandboxProfile {
        SandboxProfile(
            permissions,
            limits: WorkerLimits(processes: processes),
            library: "/srv/plugins/a.so",
            needed: ["/srv/plugins/b.so", "/usr/lib/somewhere.so"],
            dataDirectory: "/state/data/a",
            isFunction: isFunction,
            required: [.landlock]
        )
    }

    private func access(_ profile: SandboxProfile, _ path: String) -> SandboxProfile.Access? {
        profile.grants.first { $0.path == path }?.access
    }

    @Test func `By default a worker sees only its library and its data`() {
        let profile = Self.profile()
        #expect(access(profile, "/srv/plugins/a.so") == [.read, .owned])
        #expect(access(profile, "/state/data/a") == [.read, .write, .named, .owned])
        #expect(access(profile, "/srv/plugins/b.so") == .read)
        // In the system's folder, which it has anyway.
        #expect(access(profile, "/usr/lib/somewhere.so") == nil)
        let writable = profile.grants.filter { $0.access.contains(.write) }.map(\.path)
        #expect(writable.allSatisfy { $0 == "/state/data/a" || $0.hasPrefix("/dev/") })
        #expect(profile.grants.allSatisfy { !$0.access.contains(.execute) })
        for secret in ["/", "/etc", "/home", "/root", "/tmp", "/run", "/var"] {
            #expect(access(profile, secret) == nil, "\(secret)")
        }
        #expect(profile.wanted == Set(SandboxLayer.allCases))
        #expect(profile.required == [.landlock])
        #expect(profile.calls == Self.calls())
        #expect(access(profile, "/dev/zero") == nil)
    }

    /// The layers of a worker whose memory the daemon watches.
    private static func calls(opensSockets: Bool = false, startsProcesses: Bool = false)
        -> SystemCallPolicy
    {
        var calls = SystemCallPolicy(
            opensSockets: opensSockets,
            startsProcesses: startsProcesses
        )
        calls.sharesMemory = false
        return calls
    }

    @Test(arguments: [(nil, false), (1 << 28, true)] as [(UInt64?, Bool)])
    func `Shared memory is permitted if unlimited or counted by the kernel`(
        limit: UInt64?,
        isHeld: Bool
    ) {
        let profile = SandboxProfile(
            Permissions(),
            limits: WorkerLimits(memoryBytes: limit),
            library: "",
            dataDirectory: nil,
            kernelCountsMemory: isHeld
        )
        #expect(profile.calls == SystemCallPolicy())
        #expect(access(profile, "/dev/zero") == [.read, .write])
    }

    @Test func `If programs may run, only library folders are executable`() {
        let profile = Self.profile(Permissions(read: ["/r", "/usr/bin"]), processes: 4)
        #expect(access(profile, "/usr") == [.read, .noCode])
        #expect(access(profile, "/usr/lib") == .read)
        #expect(access(profile, "/usr/bin") == [.read, .named, .owned, .execute])
        let all = Self.profile(Permissions(read: ["/usr"]), processes: 4)
        #expect(access(all, "/usr")?.contains(.noCode) == false)
        // Without programs of its own nothing starts the loader either.
        #expect(access(Self.profile(processes: 4), "/usr") == .read)
        let elsewhere = SandboxProfile(
            Permissions(read: ["/r"]),
            limits: WorkerLimits(processes: 4),
            library: "/usr/libexec/bghost/a.so",
            dataDirectory: nil
        )
        #expect(access(elsewhere, "/usr/libexec/bghost/a.so") == [.read, .owned])
    }

    @Test func `Each permission opens one thing`() {
        let network = Self.profile(Permissions(directNetwork: true))
        #expect(network.wanted == Set(SandboxLayer.allCases).subtracting([.network]))
        #expect(network.calls == Self.calls(opensSockets: true))
        #expect(access(network, "/etc/resolv.conf") == .read)

        let code = Self.profile(Permissions(jit: true))
        #expect(code.wanted == Set(SandboxLayer.allCases).subtracting([.writeXorExecute]))
        #expect(code.calls == Self.calls())
        #expect(Self.profile(isFunction: true).wanted == code.wanted)

        let files = Self.profile(Permissions(read: ["/r"], write: ["/w", "/state/data/a"]))
        #expect(access(files, "/r") == [.read, .named, .owned])
        #expect(access(files, "/w") == [.read, .write, .named, .owned])
        #expect(files.wanted == Set(SandboxLayer.allCases))

        let processes = Self.profile(Permissions(read: ["/r"]), processes: 2)
        #expect(processes.calls == Self.calls(startsProcesses: true))
        #expect(access(processes, "/r") == [.read, .named, .owned, .execute])
        // Its programs are not granted with it, not even to the dynamic loader.
        #expect(access(processes, "/usr") == [.read, .noCode])
    }

    @Test func `A path that is granted twice has both permissions`() {
        let profile = Self.profile(Permissions(read: ["/x"], write: ["/x"]))
        #expect(profile.grants.count { $0.path == "/x" } == 1)
        #expect(access(profile, "/x") == [.read, .write, .named, .owned])
    }

    @Test func `A worker gets the folders that plugins may write, beside its grants`() {
        let profile = Self.profile(Permissions(read: ["/r"], write: ["/w", "/w/p"]))
        let trees = profile.message.filter(\.access.isOfTrees)
        #expect(trees.map(\.path) == ["/state/data/a", "/w"])
        #expect(trees.allSatisfy { $0.access == .tree })
        #expect(profile.message.filter { !$0.access.isOfTrees } == profile.grants)
        #expect(profile.grants.allSatisfy { !$0.access.isOfTrees })
    }

    @Test func `A nested path follows its parent`() {
        let profile = Self.profile(Permissions(read: ["/a/b", "/a", "/a/b/c"]))
        let paths = profile.grants.map(\.path)
        #expect(paths == paths.sorted())
    }

    @Test func `A set of layers reads back unchanged`() {
        #expect(Set(SandboxLayer.allCases.map(\.bit)).count == SandboxLayer.allCases.count)
        for layer in SandboxLayer.allCases {
            #expect(SandboxLayer.layers(in: SandboxLayer.bits([layer])) == [layer])
        }
        #expect(SandboxLayer.layers(in: 1 << 31) == [])
    }
}
