// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import CBghost
internal import Glibc

/// The end of the plugin in a process that continues.
enum ClosingChecks {
    static let all = [
        Check(
            "close",
            "close() leaves no thread and no descriptor, and returns within 2 s",
            level: 6,
            .plugin,
            needs: ["open", "run"],
            runs: 8,
            body: close
        ),
        Check(
            "after-close",
            "it calls no host function after close()",
            level: 6,
            .plugin,
            needs: ["open", "run"],
            runs: 8
        ) { (stage) throws(Finding) in
            let subject = try stage.subject()
            try subject.carryEach()
            guard subject.close() else { throw Finding.skipped("close() did not come back") }
            // A thread that was left running needs a moment before it calls the host.
            guard becomesTrue(within: 400, { !HostWatch.seen.afterClose.isEmpty }) else { return }
            let name = HostWatch.seen.afterClose.sorted().first ?? ""
            throw Finding.failed(
                "it calls \(name)() after close() has returned",
                fix: "join your threads in close(), and let none of them call the host after it"
            )
        },
        Check(
            "thread-exit",
            "it calls no host function when a thread ends after close()",
            level: 6,
            .plugin,
            needs: ["after-close"],
            runs: 8,
            body: threadExit
        ),
        Check(
            "at-exit",
            "its exit handlers call no host function, and return within 2 s",
            level: 6,
            .plugin,
            needs: ["close"],
            runs: 3,
            body: atExit
        ),
        Check(
            "drain",
            "drain() returns within 2 s while runs are under way",
            level: 6,
            .plugin,
            needs: ["open", "run"],
            runs: 3,
            body: drain
        ),
    ]

    private static func close(_ stage: Stage) throws(Finding) {
        let runtime = try stage.image().note?.runtime
        // The first opening may create lasting state: a language's thread pool, caches of libc.
        let warm = try stage.subject()
        try warm.carryEach()
        // The second close() below is the one that is judged.
        _ = warm.close()
        let threads = ProcessPicture.foreignThreads().count
        let descriptors = Set(ProcessPicture.descriptors().keys)
        let subject = try stage.subject()
        try subject.carryEach()
        guard subject.close() else {
            throw Finding.failed(
                "close() does not return within 2 s",
                fix: "no run is left by then: tell your threads to end, and join them"
            )
        }
        // Swift's thread pool belongs to no plugin, and has one thread per processor.
        let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        var tolerated = runtime == "swift" ? processors + 2 : 0
        let hasGo = try GoRuntime.isDeclared(stage)
        // Go keeps each thread that it has started, for later goroutines.
        if hasGo { tolerated = threads + processors + 2 }
        guard becomesTrue(within: 1000, { ProcessPicture.foreignThreads().count <= tolerated })
        else {
            let threads = ProcessPicture.foreignThreads()
            let names = Set(threads.values).sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw Finding.failed(
                "\(threads.count) threads go on after close(): \(names)",
                fix:
                    "join every thread in close(); name them (pthread_setname_np) to tell them apart"
            )
        }
        if hasGo {
            try GoRuntime.requireRest(
                "after close()",
                fix: "let each goroutine end when the context of its run does"
            )
        }
        var left = ProcessPicture.descriptors().filter {
            !descriptors.contains($0.key) && $0.value != "anon_inode:[eventfd]"
        }
        // Swift's pool also keeps one timer descriptor per clock, created by the first sleep on
        // that clock.
        let timers = left.filter { $0.value == "anon_inode:[timerfd]" }
        if runtime == "swift", timers.count <= 3 { for timer in timers { left[timer.key] = nil } }
        // Its manager waits on one epoll descriptor, created when a clock is first slept on.
        let polls = left.filter { $0.value == "anon_inode:[eventpoll]" }
        if runtime == "swift", polls.count == 1 { for poll in polls { left[poll.key] = nil } }
        guard let first = left.sorted(by: { $0.key < $1.key }).first else { return }
        throw Finding.failed(
            "\(left.count) descriptors stay open after close(), among them \(first.value)",
            fix: "close in close() what you opened, in open() and in runs"
        )
    }

    private static func threadExit(_ stage: Stage) throws(Finding) {
        // A worker's threads end with it, those of other hosts before.
        let line = try Line.begun()
        var behavior = Subject.Behavior()
        behavior.starter = line
        let subject = try stage.subject(behavior)
        try subject.carryEach()
        guard subject.close() else { throw Finding.skipped("close() did not come back") }
        stage.phase("the end of a thread that had called start(), after close()")
        let calls = HostWatch.seen.afterClose
        line.end()
        let fix =
            "keep nothing in thread-locals of the host's threads: give what belongs to a run to it"
            + " (set_state), and delete your keys in close()"
        guard becomesTrue(within: 2000, { line.isGone }) else {
            throw Finding.failed(
                "a thread that had called start() does not end within 2 s, after close()",
                fix: fix
            )
        }
        guard let name = HostWatch.seen.afterClose.subtracting(calls).sorted().first else { return }
        throw Finding.failed(
            "it calls \(name)() when a thread ends that had called start(), after close()",
            fix: fix
        )
    }

    private static func atExit(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject()
        try subject.carryEach()
        guard subject.close() else { throw Finding.skipped("close() did not come back") }
        guard let symbol = dlsym(nil, "__cxa_finalize") else {
            throw Finding.skipped("the C library has no __cxa_finalize()")
        }
        stage.phase("what it does at exit")
        let calls = HostWatch.seen.afterClose
        let address = UInt(bitPattern: symbol)
        let time = try Line.begun().time(milliseconds: 2000) {
            typealias Finalize = @convention(c) (UnsafeMutableRawPointer?) -> Void
            guard let symbol = UnsafeRawPointer(bitPattern: address) else { return }
            // This is all that exit() would have run; what remains of the process does not need it.
            unsafeBitCast(symbol, to: Finalize.self)(nil)
        }
        guard time != nil else {
            throw Finding.failed(
                "what it does at exit does not return within 2 s",
                fix: "wait for nothing in handlers of atexit() and in destructors of statics"
            )
        }
        guard let name = HostWatch.seen.afterClose.subtracting(calls).sorted().first else { return }
        throw Finding.failed(
            "it calls \(name)() while the process exits",
            fix: "end in close() what needs the host: exit handlers come after it, or never"
        )
    }

    private static func drain(_ stage: Stage) throws(Finding) {
        var behavior = Subject.Behavior()
        behavior.hostBehavior = .silent
        let subject = try stage.subject(behavior)
        let begun = try subject.begin(0)
        // It only gives the run time to begin; one that has ended is as good.
        _ = subject.runs.end(of: begun.run, milliseconds: 20)
        subject.cancelSoon(begun, why: UInt32(BG_WHY_DRAIN))
        stage.phase("drain()")
        let line = try Line.begun()
        let runtime = subject.runtime
        guard line.time(milliseconds: 2000, { runtime.drain() }) != nil else {
            throw Finding.failed(
                "drain() does not return within 2 s",
                fix: "only note there that nothing new is to begin: runs are waited for by the host"
            )
        }
    }
}
