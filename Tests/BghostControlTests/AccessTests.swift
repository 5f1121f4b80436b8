// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostModel
@testable import BghostControl
import BghostPolicy
import BghostTestSupport
import Glibc
import Synchronization
import Testing

/// Who may do what at the control socket.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct AccessTests {
    private static let stranger: UInt32 = 54_321
    private static let group: UInt32 = 23_456

    // MARK: - Roles

    private static func peer(uid: UInt32, gid: UInt32 = 0) -> PeerCredentials {
        PeerCredentials(pid: getpid(), uid: uid, gid: gid)
    }

    @Test func `Root and the owner operate`() {
        let access = ControlAccess()
        #expect(access.role(of: Self.peer(uid: 0), pidfd: -1) == .operate)
        #expect(access.role(of: Self.peer(uid: geteuid()), pidfd: -1) == .operate)
    }

    @Test func `Strangers have no role`() {
        let peer = Self.peer(uid: Self.stranger, gid: Self.group)
        #expect(ControlAccess().role(of: peer, pidfd: -1) == nil)
        let other = ControlAccess(group: .init(id: Self.group + 1, role: .operate))
        #expect(other.role(of: peer, pidfd: -1) == nil)
    }

    @Test(arguments: ControlRole.allCases)
    func `Members have the role of their group`(role: ControlRole) {
        let access = ControlAccess(group: .init(id: Self.group, role: role))
        let peer = Self.peer(uid: Self.stranger, gid: Self.group)
        #expect(access.role(of: peer, pidfd: -1) == role)
        // The owner need not be one of them.
        #expect(access.role(of: Self.peer(uid: geteuid()), pidfd: -1) == .operate)
    }

    @Test func `Workers have no role under any user`() {
        let access = ControlAccess(group: .init(id: 0, role: .operate)) { $0.pid == getpid() }
        for uid in [0, geteuid(), Self.stranger] {
            #expect(access.role(of: Self.peer(uid: uid), pidfd: -1) == nil)
        }
    }

    @Test func `A process that has ended has no role`() throws {
        // Ready to be read, as the descriptor of a process is that has ended.
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(ControlAccess().role(of: Self.peer(uid: 0), pidfd: ends[0]) == .operate)
        try #require(write(ends[1], "x", 1) == 1)
        #expect(ControlAccess().role(of: Self.peer(uid: 0), pidfd: ends[0]) == nil)
    }

    @Test func `Groups are read from the kernel`() throws {
        let own = try #require(ProcessStatus(pid: getpid()))
        #expect(own.parent == getppid())
        #expect(own.groups.contains(getegid()))
        #expect(ProcessStatus(pid: 0) == nil)
        let text = "Name:\tGid:\\n1 2\nPPid:\t7\nGid:\t1\t2\t3\t4\nGroups:\t5 4294967295 \n"
        let status = try #require(ProcessStatus(Array(text.utf8)))
        #expect(status.parent == 7)
        #expect(status.groups == [2, 5, .max])
        #expect(ProcessStatus(Array("Name:\tx\n".utf8)) == nil)
    }

    @Test func `Groups are found by name`() {
        #expect(ControlAccess.Group(named: "root", role: .read)?.id == 0)
        #expect(ControlAccess.Group(named: "no-such-group-anywhere", role: .read) == nil)
    }

    // MARK: - Logged changes

    @Test func `Changes are logged with their user`() async throws {
        let told = Mutex<[ControlVerb]>([])
        try await Serving.with(onVerb: { verb in told.withLock { $0.append(verb) } }) { serving in
            try await serving.ask { client in
                _ = try await client.status()
                _ = try await client.runs(task: nil, limit: 5)
                _ = try await client.submit(Submission(task: "com.acme.storm"))
            }
            _ = await fault {
                try await serving.ask { _ = try await $0.enable(plugin: "no-such-plugin") }
            }
        }
        let own = Caller(
            peer: PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid()),
            role: .operate
        )
        #expect(
            told.withLock { $0 } == [
                ControlVerb(method: "POST", path: "/v1/submit", caller: own, status: 202),
                ControlVerb(
                    method: "POST",
                    path: "/v1/plugins/no-such-plugin/enable",
                    caller: own,
                    status: 404
                ),
            ]
        )
        let sentence = told.withLock { $0.first?.sentence }
        #expect(sentence == "POST /v1/submit by uid \(geteuid()), pid \(getpid()): 202")
    }

    // MARK: - Members of a group

    /// The program as another user, who is in the group.
    private func runAsMember(_ arguments: [String], _ serving: Serving) async throws
        -> Command.Result
    {
        let id = String(Self.stranger)
        return try await onThread {
            try Command.run(
                ["setpriv", "--reuid", id, "--regid", id, "--groups", String(Self.group)]
                    + ["env", "-i", "HOME=/nonexistent", Artifact.path("bghost")] + arguments
                    + ["--control", serving.socketPath]
            )
        }
    }

    private func open(_ folder: TemporaryDirectory) throws {
        var path = folder.path
        try #require(chmod(path, 0o711) == 0)
        // Where temporary folders are made may be closed to others too.
        while let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            path = String(path[..<slash])
            #expect(access(path, X_OK) == 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `A reader may read and change nothing`() async throws {
        let folder = try TemporaryDirectory()
        try open(folder)
        let told = Mutex<[ControlVerb]>([])
        try await Serving.with(
            access: ControlAccess(group: .init(id: Self.group, role: .read)),
            onVerb: { verb in told.withLock { $0.append(verb) } },
            in: folder
        ) { serving in
            let facts = try FileFacts(of: serving.socketPath, followsLinks: false)
            #expect(facts.permissions == 0o660)
            #expect(facts.group == Self.group && facts.owner == 0)
            let status = try await runAsMember(["status", "--json"], serving)
            #expect(status.exitCode == 0, "\(status)")
            let submit = try await runAsMember(["submit", "com.acme.storm"], serving)
            #expect(submit.exitCode != 0)
            #expect(
                submit.error.hasPrefix(
                    "error[BG2110]: user 54321 may look at this daemon and not change anything"
                ),
                "\(submit)"
            )
        }
        let verbs = told.withLock { $0 }
        #expect(verbs.map(\.status) == [403])
        #expect(verbs.map(\.caller.peer.uid) == [Self.stranger])
    }

    @Test(.enabled(if: geteuid() == 0))
    func `A member of the group may operate`() async throws {
        let folder = try TemporaryDirectory()
        try open(folder)
        let access = ControlAccess(group: .init(id: Self.group, role: .operate))
        try await Serving.with(access: access, in: folder) { serving in
            let submit = try await runAsMember(["submit", "com.acme.storm"], serving)
            #expect(submit.exitCode == 0, "\(submit)")
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `A stranger is refused`() async throws {
        let folder = try TemporaryDirectory()
        try open(folder)
        // Its mode was loosened by hand.
        try await Serving.with(in: folder) { serving in
            #expect(chmod(serving.socketPath, 0o666) == 0)
            let status = try await runAsMember(["status"], serving)
            #expect(status.exitCode != 0)
            #expect(status.output.isEmpty)
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `Members do not keep the operator out`() async throws {
        let folder = try TemporaryDirectory()
        try open(folder)
        var limits = ControlLimits.patient
        limits.connectionsMax = 2
        let access = ControlAccess(group: .init(id: Self.group, role: .read))
        let follower = Mutex<Task<Void, any Error>?>(nil)
        try await Serving.with(limits: limits, access: access, in: folder) { serving in
            follower.withLock { follower in
                follower = Task {
                    // A client below may use the connection slot for a moment.
                    while !Task.isCancelled { _ = try await runAsMember(["logs", "-f"], serving) }
                }
            }
            // It has its place once another member gets none.
            while try await runAsMember(["status"], serving).exitCode == 0 {}
            _ = try await serving.ask { try await $0.status() }
            follower.withLock { $0?.cancel() }
        }
        // It ends with the server.
        _ = try await follower.withLock { $0 }?.value
    }
}
