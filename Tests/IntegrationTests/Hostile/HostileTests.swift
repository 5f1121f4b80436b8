// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension SeparateHosts {
    /// One hostile handler at a time: its outcome is the stated one, others continue, and no process is left.
    ///
    /// Each is a process of its own, which has nothing but this host.
    @Suite struct HostileTests {
        @Test(.timeLimit(.minutes(5)), arguments: TestManifest.hostilities.map(\.handler))
        func `A hostile handler ends as stated, and nothing is left of it`(
            handler: String
        ) async {
            await #expect(processExitsWith: .success) { [handler] in
                let hostility = try #require(
                    TestManifest.hostilities.first { $0.handler == handler }
                )
                // A handler that ends when cancelled has the time for it on a busy machine.
                let diesInCancel = handler.hasSuffix("-in-cancel") && handler != "ask-in-cancel"
                // So has one that ends by itself, before its runtime is over.
                let isStopped =
                    diesInCancel || hostility.outcomes.contains("killed(graceExceeded)")
                let manifest = try TestManifest.misbehave(
                    runtime: isStopped ? .milliseconds(400) : .seconds(60),
                    grace: diesInCancel ? .seconds(60) : .milliseconds(100),
                    only: [handler],
                    limits: WorkerLimits(memoryBytes: 64 << 20, processes: 8)
                )
                try await withLonelyDaemon(manifest) { daemon in
                    // Create all objects that exist once before the measurement.
                    try await meet(hostility, daemon)
                    let before = try await daemon.settled()
                    let memory = try residentMebibytes()
                    for _ in 0..<2 { try await meet(hostility, daemon) }
                    expectNothingMore(try await daemon.settled(), than: before)
                    let grown = try residentMebibytes() - memory
                    #expect(grown < 24, "the daemon has grown by \(grown) MiB")
                    while try !controlGroupsOfWorkers().isEmpty { await Task.yield() }
                    try expectPrintable(daemon)
                }
                #expect(try Holdings().children.isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Frames past the runtime are counted and reported with their plugin`() async {
            await #expect(processExitsWith: .success) {
                let manifest = try TestManifest.misbehave()
                try await withLonelyDaemon(manifest) { daemon in
                    let record = try await daemon.runBesideOthers("burst-frames")
                    #expect(record.outcome == .succeeded)
                    // On a machine that needs this long for 40000, they are not too fast.
                    if try #require(record.duration) >= .seconds(4) { return }
                    let line = try await daemon.line { $0.event == "log.dropped" }
                    #expect(line.plugin == "misbehave" && line.task == "burst-frames")
                    let words = line.message.split(separator: " ")
                    let dropped = try #require(words.first.flatMap { Int($0) })
                    // 40000 were sent, and 8000 a second are let through.
                    #expect((1...41_000).contains(dropped), "\(line.message)")
                    #expect(line.message.hasSuffix("came too fast and were dropped"))
                    #expect(try #require(record.progress).total == .max)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Fifty workers that crash together are reaped, and others continue`() async {
            await #expect(processExitsWith: .success) {
                // None may expire before the last one has begun.
                let manifest = try TestManifest.misbehave(
                    runtime: .seconds(600),
                    grace: .seconds(60),
                    overlap: .allow,
                    slots: 52
                )
                try await withLonelyDaemon(manifest) { daemon in
                    let pids = try await crash(50, daemon)
                    #expect(Set(pids).count == 50)
                    #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                    for pid in pids { try await gone(pid) }
                    #expect(try await daemon.settled().children.isEmpty)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Truncating a loaded library ends only that worker`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryDirectory()
                let whole = try File.read(try Fixture.library("misbehave"))
                try folder.write(whole, to: "plugin.so")
                let manifest = try TestManifest.plugin("cut", library: "plugin.so")
                try await withDaemon(
                    manifest,
                    folder: folder,
                    // Once the daemon has seen the truncated file, requests wait.
                    adjust: { $0.timeouts.settle = 3_600_000_000_000 }
                ) { daemon in
                    #expect(try await daemon.run("task").outcome == .succeeded)
                    try #require(truncate(folder.file("plugin.so"), 4096) == 0)
                    let record = try await daemon.runBesideOthers("task")
                    #expect(record.outcome == .crashed(.signalled(SIGBUS)))
                    // The truncated file is no plugin; the restored file is one.
                    #expect(try await daemon.run("task").outcome != .succeeded)
                    try folder.write(whole, to: "new.so")
                    try #require(rename(folder.file("new.so"), folder.file("plugin.so")) == 0)
                    #expect(try await daemon.run("task").outcome == .succeeded)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A daemon without descriptors starts no worker until it has some again`() async {
            await #expect(processExitsWith: .success) {
                try await withLonelyDaemon(try TestManifest.misbehave()) { daemon in
                    // A plugin keeps a descriptor from its first worker on.
                    _ = try await daemon.run("witness.echo")
                    // The first inspections of the plugins release their descriptors later.
                    _ = try await daemon.settled()
                    let run = try await daemon.begin("honour-cancel")
                    let held = try lastingDescriptors().count
                    let before = try limitDescriptors(to: numbersWithFree(4))
                    let record = try await daemon.run("witness.echo")
                    // The daemon releases what it created before the shortage.
                    try await releasesDescriptors(downTo: held)
                    #expect(record.outcome == .lost)
                    #expect(record.message.hasPrefix("no worker can be made: "))
                    _ = try limitDescriptors(to: before)
                    #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                    // Nothing is held against the plugin, whose fault it was not.
                    let plugins = await daemon.host.status().plugins
                    #expect(plugins.allSatisfy { $0.problem == nil && $0.quarantine == nil })
                    #expect(await daemon.host.expire(run: run.id))
                    #expect(try await daemon.end(of: run).outcome == .cancelledClean)
                }
            }
        }
    }
}

/// How many descriptor numbers, from 0 on, hold so many that are not taken.
///
/// A limit is one of numbers: what was inherited may lie above it, and leaves free ones below.
private func numbersWithFree(_ wanted: Int) throws -> Int {
    let taken = Set(try File.list("/proc/self/fd").compactMap { Int($0) })
    var (count, free) = (0, 0)
    while free < wanted {
        if !taken.contains(count) { free += 1 }
        count += 1
    }
    return count
}

/// Lets this process have no descriptors of this number or above.
///
/// - Returns: how many it could have before.
private func limitDescriptors(to count: Int) throws -> Int {
    let descriptors = __rlimit_resource_t(7)
    var limit = rlimit()
    try #require(getrlimit(descriptors, &limit) == 0)
    let before = Int(clamping: limit.rlim_cur)
    limit.rlim_cur = rlim_t(count)
    try #require(setrlimit(descriptors, &limit) == 0)
    return before
}

/// Has so many workers crash at once, and returns their process ids.
private func crash(_ count: Int, _ daemon: RunningHost) async throws -> [Int32] {
    var requests: [PendingRequest] = []
    for _ in 0..<count {
        requests.append(try await daemon.host.trigger(Submission(task: "exit-in-cancel")))
    }
    var begun: [RunRecord] = []
    for request in requests { begun.append(try await daemon.begun(request)) }
    let pids = begun.compactMap(\.pid)
    for run in begun { #expect(await daemon.host.expire(run: run.id)) }
    for run in begun {
        #expect(try await daemon.end(of: run).outcome == .crashed(.exited(0)))
    }
    return pids
}

private func meet(_ hostility: Hostility, _ daemon: RunningHost) async throws {
    let record = try await daemon.runBesideOthers(hostility.handler)
    let outcome = try #require(record.outcome).text
    #expect(
        hostility.outcomes.contains { outcome.hasPrefix($0) },
        "\(hostility.handler): \(outcome) \(record.message)"
    )
    if let line = hostility.line {
        try await daemon.line(LogFilter(run: record.id)) { $0.message.hasPrefix(line) }
    }
    let began = try #require(record.startedAt)
    let held = Duration.nanoseconds(try #require(record.endedAt) - began)
    let bound = record.limits.runtime + record.limits.grace + .seconds(1)
    #expect(held <= bound, "\(held), \(daemon.timeline(of: record))")
    // The next run of the plugin has a worker that works.
    #expect(try await daemon.run("echo").outcome == .succeeded)
}

/// Holds all that was logged to what can be shown on a terminal.
private func expectPrintable(_ daemon: RunningHost) throws {
    for entry in daemon.log.entries(matching: LogFilter(), limit: 8192) {
        let isPlain = entry.message.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
        }
        try #require(isPlain, "\(entry.message.debugDescription)")
        // What a plugin prints never looks like a line of the host's own.
        try #require(entry.source == .host || entry.event.isEmpty)
    }
}
