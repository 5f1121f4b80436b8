// SPDX-License-Identifier: Apache-2.0

import BghostCore
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

    @Test func `By default it has its library, its data and nothing else`() {
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
        #expect(profile.calls == SystemCallPolicy())
    }

    @Test func `Each permission opens one thing`() {
        let network = Self.profile(Permissions(directNetwork: true))
        #expect(network.wanted == Set(SandboxLayer.allCases).subtracting([.network]))
        #expect(network.calls == SystemCallPolicy(opensSockets: true))
        #expect(access(network, "/etc/resolv.conf") == .read)

        let code = Self.profile(Permissions(jit: true))
        #expect(code.wanted == Set(SandboxLayer.allCases).subtracting([.writeXorExecute]))
        #expect(code.calls == SystemCallPolicy())
        #expect(Self.profile(isFunction: true).wanted == code.wanted)

        let files = Self.profile(Permissions(read: ["/r"], write: ["/w", "/state/data/a"]))
        #expect(access(files, "/r") == [.read, .named, .owned])
        #expect(access(files, "/w") == [.read, .write, .named, .owned])
        #expect(files.wanted == Set(SandboxLayer.allCases))

        let processes = Self.profile(Permissions(read: ["/r"]), processes: 2)
        #expect(processes.calls == SystemCallPolicy(startsProcesses: true))
        #expect(access(processes, "/r") == [.read, .named, .owned, .execute])
        #expect(access(processes, "/usr") == .read)
    }

    @Test func `A path that is granted twice has both`() {
        let profile = Self.profile(Permissions(read: ["/x"], write: ["/x"]))
        #expect(profile.grants.count { $0.path == "/x" } == 1)
        #expect(access(profile, "/x") == [.read, .write, .named, .owned])
    }

    @Test func `What lies in another comes behind it`() {
        let profile = Self.profile(Permissions(read: ["/a/b", "/a", "/a/b/c"]))
        let paths = profile.grants.map(\.path)
        #expect(paths == paths.sorted())
    }

    @Test func `Sets of layers keep their layers`() {
        #expect(Set(SandboxLayer.allCases.map(\.bit)).count == SandboxLayer.allCases.count)
        for layer in SandboxLayer.allCases {
            #expect(SandboxLayer.layers(in: SandboxLayer.bits([layer])) == [layer])
        }
        #expect(SandboxLayer.layers(in: 1 << 31) == [])
    }
}
