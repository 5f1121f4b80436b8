// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostLinux
import BghostModel
import BghostServices
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
    /// The resources of this process once its workers have ended and nothing of them is under way.
    ///
    /// The test's time limit bounds it: idle workers need processor time to end.
    func settled() async throws -> Holdings {
        while true {
            // Before its threads are waited for: from then on no worker gives them anything to do.
            while await !host.hasNoWorkers {
                try #require(!Task.isCancelled, "a worker lives on")
                await Task.yield()
            }
            // What the threads report may give others something to do.
            for _ in 0..<2 { await host.finishWork() }
            let last = try Holdings()
            if last.children.isEmpty { return last }
            try #require(!Task.isCancelled, "\(last)")
        }
    }
}

extension Host {
    /// A plugin in the daemon stays.
    fileprivate var hasNoWorkers: Bool {
        owners.executors.all.allSatisfy { $0 is InProcessExecutor }
    }

    /// Returns when the threads of the host have done what they were asked for until now.
    ///
    /// They collect processes, close what belonged to them, and look at folders, which takes descriptors.
    fileprivate func finishWork() async {
        await withCheckedContinuation { continuation in
            services.spawner.perform { continuation.resume() }
        }
        for purpose in BlockingThreads.Purpose.allCases {
            guard let thread = services.threads.existingThread(for: purpose) else { continue }
            await withCheckedContinuation { continuation in
                thread.perform { continuation.resume() }
            }
        }
        // What they report is handled in a turn that comes before this one goes on.
        await Task.yield()
    }
}

/// Returns once this process has at most so many descriptors: some close after the run that opened them.
func releasesDescriptors(downTo held: Int) async throws {
    while true {
        // The list needs a descriptor itself, which a process at its limit cannot have yet.
        let open = try? File.list("/proc/self/fd").count
        if let open, open <= held { return }
        let count = open.map { "\($0)" } ?? "all"
        try #require(!Task.isCancelled, "\(count) descriptors are open, \(held) were before")
        await Task.yield()
    }
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
