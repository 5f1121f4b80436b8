// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostTestSupport
import Glibc
import Testing

/// Runs a test in a process that has nothing but this host.
func withLonelyDaemon(
    _ manifest: Manifest,
    adjust: (inout HostConfiguration) -> Void = { _ in },
    _ body: (RunningHost) async throws -> Void
) async throws {
    Orphan.adopt()
    try await withDaemon(
        manifest,
        adjust: { configuration in
            durable(&configuration)
            configuration.isSubreaper = true
            configuration.timeouts.idle = 20_000_000
            adjust(&configuration)
        },
        body
    )
}

extension RunningHost {
    /// The resources of this process once its workers have ended.
    ///
    /// It does not ask the host, whose thread has real-time priority by then: that would keep the processor
    /// from all others.
    func settled() async throws -> Holdings {
        let clock = ContinuousClock()
        // No promise: idle workers need processor time to end.
        let deadline = clock.now + .seconds(60)
        var last = try Holdings()
        while let child = last.children.first {
            try #require(clock.now < deadline, "\(last)")
            // It is left to the host to be collected.
            var end = siginfo_t()
            waitid(P_PID, id_t(child), &end, WEXITED | WNOWAIT)
            await Task.yield()
            last = try Holdings()
        }
        // The last of their descriptors close when the host is told of it.
        for _ in 0..<200 {
            await Task.yield()
            let next = try Holdings()
            if next.descriptors.count < last.descriptors.count { last = next }
        }
        return last
    }
}

/// The descriptors of this process, besides those of the memory of running workers: each is opened when the
/// daemon first looks at it, and stays as long as its worker.
func lastingDescriptors() throws -> [String] {
    try File.list("/proc/self/fd").filter { name in
        let path = target(ofDescriptor: name)
        return !path.hasSuffix("/statm") || access(path, F_OK) != 0
    }
}

/// Returns once this process has at most so many of the lasting descriptors: some close after the run that
/// opened them.
///
/// The kernel has no event for that.
func releasesDescriptors(downTo held: Int) async throws {
    let clock = ContinuousClock()
    // No promise: the daemon needs processor time to close them.
    let deadline = clock.now + .seconds(120)
    while true {
        // The list needs a descriptor itself, which a process at its limit cannot have yet.
        let open = try? lastingDescriptors()
        if let open, open.count <= held { return }
        if clock.now >= deadline {
            let targets = open?.map { "\($0) → \(target(ofDescriptor: $0))" } ?? ["all"]
            Issue.record(
                """
                The daemon has not closed its descriptors within 2 minutes: \(held) were open before, and these are:
                \(targets.joined(separator: "\n"))
                """
            )
            throw CancellationError()
        }
        await Task.yield()
    }
}

private func target(ofDescriptor name: String) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/fd/\(name)", &buffer, buffer.count)
    return String(
        decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) },
        as: UTF8.self
    )
}

/// Holds what a process has to what it had before.
///
/// The pool of Swift's tasks ends and starts threads as it likes, below its own maximum; a leak of the
/// host's would be one for each of many runs.
func expectNothingMore(_ after: Holdings, than before: Holdings) {
    #expect(abs(after.threads - before.threads) <= 2, "\(before.threads) and \(after.threads)")
    var after = after
    after.threads = before.threads
    #expect(after == before, "\(after)\n\nwas \(before)")
}

/// The memory of this process that is resident, MiB.
func residentMebibytes() throws -> Int {
    let fields = try File.read("/proc/self/statm").split(separator: UInt8(ascii: " "))
    let pages = try #require(
        fields.count > 1 ? Int(String(decoding: fields[1], as: UTF8.self)) : nil
    )
    return (pages * Int(getpagesize())) >> 20
}

/// The control groups of workers of this process that have not been removed.
func controlGroupsOfWorkers() throws -> [String] {
    try controlGroupsOfThisProcess().flatMap { group in
        // Each has this, and nothing else in a group does.
        try File.list(group).filter { access("\(group)/\($0)/cgroup.procs", F_OK) == 0 }
    }
}
