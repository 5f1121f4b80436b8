// SPDX-License-Identifier: Apache-2.0

import BghostPlugin
import BghostWire
import CBghost
import Dispatch
import Synchronization
import Testing

/// A runtime for a plugin that is no file, and with a clock of the host: as tests of handlers have it.
@Suite(.timeLimit(.minutes(5))) struct CompiledPluginTests {
    private let run = CompiledPlugin.run

    private func complete(_ runtime: PluginRuntime, _ status: bg_status = BG_OK) -> bg_status {
        var result = bg_result()
        result.status = status
        result.size = UInt32(MemoryLayout<bg_result>.size)
        return runtime.table.pointee.complete(runtime.table, run, &result)
    }

    // MARK: Loading

    @Test func `A table in memory is checked as that of a file`() throws {
        let error = #expect(throws: PluginRefusal.self) {
            try PluginLoader.descriptor(
                of: CompiledPlugin.table(handlers: ["a", "a"]),
                in: "this test"
            )
        }
        #expect(error?.code == "duplicate-handler")
        #expect(error?.message.hasPrefix("this test: the plugin: it has two handlers") == true)
    }

    @Test func `A plugin that does not open is refused`() throws {
        let runtime = CompiledPlugin().runtime()
        let table = CompiledPlugin.table(handlers: ["a"], opens: false)
        let descriptor = try PluginLoader.descriptor(of: table, in: "this test")
        let error = #expect(throws: PluginRefusal.self) {
            try runtime.load(descriptor, as: "this test")
        }
        #expect(error?.code == "open-failed")
    }

    // MARK: What a run fails with

    @Test(arguments: [BG_E_FAILED, BG_E_CANCELLED, BG_OK])
    func `The last error is told with a failure, and only with one`(status: bg_status) throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        #expect(note(runtime, "First", "a.c", 1) == BG_OK)
        let long = String(repeating: "é", count: 300)
        #expect(note(runtime, long, "b\u{0}.c", 7) == BG_OK)
        // A smaller struct, and a text without its bytes.
        #expect(note(runtime, "E", "c.c", 8, size: 39) == BG_E_ARG)
        #expect(complete(runtime, status) == BG_OK)
        #expect(note(runtime, "Late", "d.c", 9) == BG_E_STALE)
        let told = HandlerError(type: String(long.prefix(128)), file: "b\u{0}.c", line: 7)
        #expect(plugin.log.withLock { $0.errors } == [status == BG_OK ? nil : told])
    }

    private func note(
        _ runtime: PluginRuntime,
        _ type: String,
        _ file: String,
        _ line: UInt32,
        size: Int = MemoryLayout<bg_run_error>.size
    ) -> bg_status {
        guard let table = runtime.table.pointee.extension?(runtime.table, BG_EXT_RUN),
            let note = table.load(as: bg_runs.self).error
        else { return BG_E_ABSENT }
        let (typeBytes, fileBytes) = (Array(type.utf8), Array(file.utf8))
        return typeBytes.withUnsafeBytes { type in
            fileBytes.withUnsafeBytes { file in
                var error = bg_run_error()
                (error.size, error.line) = (UInt32(size), line)
                error.type_name.ptr = type.baseAddress?.assumingMemoryBound(to: CChar.self)
                error.type_name.len = type.count
                error.file.ptr = file.baseAddress?.assumingMemoryBound(to: CChar.self)
                error.file.len = file.count
                return note(runtime.table, run, &error)
            }
        }
    }

    // MARK: Cancellation

    @Test func `The host is told that cancel() has returned, if it was called`() async throws {
        let (_, runtime) = try CompiledPlugin.started()
        let heard = Mutex<[String]>([])
        /// Cancels, and waits until the callbacks of the run are done.
        func cancel(_ name: String) async {
            runtime.cancel(run: run, why: UInt32(BG_WHY_USER)) {
                heard.withLock { $0.append(name) }
            }
            await withCheckedContinuation { continuation in
                runtime.afterCallbacks(of: run) { continuation.resume() }
            }
        }
        await cancel("first")
        #expect(heard.withLock { $0 } == ["first"])
        await cancel("again")
        #expect(complete(runtime) == BG_OK)
        await cancel("after the end")
        #expect(heard.withLock { $0 } == ["first"])
    }

    // MARK: Transfers

    /// The daemon gives what a complete run has not taken to a wake, so the run must not have it, too.
    @Test func `A run that is complete takes no end of a transfer`() async throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        plugin.log.withLock { $0.mayCall = true }
        let ends = TransferEnds()
        var numbers: [UInt64] = []
        for _ in 0..<2 {
            try #require(ends.wait(runtime.table, run) == BG_OK)
            numbers.append(plugin.log.withLock { $0.lastCall })
        }
        // Both have ended. The plugin learns of one after the other, and completes the run in between.
        for number in numbers {
            runtime.answer(number, HostAnswer(status: BG_OK, body: .transfers(Array("{}".utf8))))
        }
        await Self.blocking { ends.untilTold() }
        #expect(complete(runtime) == BG_OK)
        ends.letReturn()
        await Self.blocking { ends.untilTold() }
        ends.letReturn()
        while plugin.log.withLock({ $0.released.isEmpty }) { await Task.yield() }
        #expect(ends.statuses == [BG_OK, BG_E_CANCELLED])
        let taken = plugin.log.withLock(\.calls).compactMap { operation in
            if case .transfer(.took(let number)) = operation { number } else { nil }
        }
        #expect(taken == [numbers[0]])
    }

    private static func blocking(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                body()
                continuation.resume()
            }
        }
    }

    // MARK: The clock

    @Test func `Only a host with its own clock offers bghost.clock`() throws {
        let (_, machine) = try CompiledPlugin.started(hasClock: false)
        #expect(SleepEnds.clock(of: machine.table) == nil)
        let (_, own) = try CompiledPlugin.started()
        var unix: Int64 = 0
        var monotonic: Int64 = 0
        let clock = try #require(SleepEnds.clock(of: own.table))
        #expect(clock.now(own.table, &unix, &monotonic) == BG_OK)
        #expect((unix, monotonic) == (5, 7))
        #expect(clock.now(own.table, nil, nil) == BG_OK)
    }

    @Test func `A sleep ends once, when the host ends it`() async throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        let ends = SleepEnds()
        let (status, number) = ends.sleep(runtime.table, run)
        #expect(status == BG_OK)
        #expect(plugin.log.withLock { $0.sleeps } == [number])
        runtime.answer(number, HostAnswer(status: BG_OK))
        runtime.answer(number, HostAnswer(status: BG_E_CANCELLED))
        await ends.wait(for: 1)
        #expect(complete(runtime) == BG_OK)
        while plugin.log.withLock({ $0.released.isEmpty }) { await Task.yield() }
        #expect(ends.statuses == [BG_OK])
    }

    @Test func `Waking a sleep asks the host to end it`() async throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        let ends = SleepEnds()
        let number = ends.sleep(runtime.table, run).number
        let clock = try #require(SleepEnds.clock(of: runtime.table))
        #expect(clock.wake(runtime.table, number) == BG_OK)
        #expect(plugin.log.withLock { $0.woken } == [number])
        #expect(ends.list.isEmpty)
        runtime.answer(number, HostAnswer(status: BG_E_CANCELLED))
        await ends.wait(for: 1)
        #expect(clock.wake(runtime.table, number) == BG_E_STALE)
        #expect(ends.statuses == [BG_E_CANCELLED])
    }

    @Test func `The end of a run ends its sleeps before release()`() async throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        let ends = SleepEnds()
        for _ in 0..<3 { #expect(ends.sleep(runtime.table, run).0 == BG_OK) }
        #expect(complete(runtime) == BG_OK)
        while plugin.log.withLock({ $0.released.isEmpty }) { await Task.yield() }
        #expect(ends.statuses == [BG_E_CANCELLED, BG_E_CANCELLED, BG_E_CANCELLED])
        #expect(ends.sleep(runtime.table, run).0 == BG_E_STALE)
    }

    @Test func `A sleep that the host refuses does not delay the release of its run`() throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        plugin.log.withLock { $0.maySleep = false }
        let ends = SleepEnds()
        #expect(ends.sleep(runtime.table, run).0 == BG_E_STALE)
        #expect(complete(runtime) == BG_OK)
        #expect(plugin.log.withLock { $0.released } == [run])
        #expect(ends.list.isEmpty)
    }

    @Test func `Sleeps do not use up the calls that a plugin may have open`() async throws {
        let (_, runtime) = try CompiledPlugin.started()
        let ends = SleepEnds()
        // One more than the open calls of other kinds.
        for _ in 0..<257 { #expect(ends.sleep(runtime.table, run).0 == BG_OK) }
        #expect(complete(runtime) == BG_OK)
        await ends.wait(for: 257)
    }

    @Test func `With the host's clock no call is dropped for its rate`() throws {
        let (plugin, runtime) = try CompiledPlugin.started(hasClock: true)
        let host = runtime.table
        for index in 0..<3 {
            let phase = bg_str(ptr: nil, len: 0)
            #expect(host.pointee.progress(host, run, UInt64(index), 9, phase) == BG_OK)
        }
        for _ in 0..<3000 { _ = host.pointee.log(host, run, 2, bg_str(ptr: nil, len: 0)) }
        let (phases, logs) = plugin.log.withLock { ($0.phases.count, $0.logs) }
        #expect(phases == 3 && logs == 3000)
    }

    /// Where the machine is busy not each call is too fast, so they go on until one is dropped.
    @Test func `Without it calls are dropped that come too fast`() throws {
        let (plugin, runtime) = try CompiledPlugin.started(hasClock: false)
        let host = runtime.table
        let text = bg_str(ptr: nil, len: 0)
        var calls = 0
        repeat {
            #expect(host.pointee.progress(host, run, 1, 9, text) == BG_OK)
            calls += 1
        } while plugin.log.withLock { $0.phases.count } == calls
        calls = 0
        repeat {
            _ = host.pointee.log(host, run, 2, text)
            calls += 1
        } while plugin.log.withLock { $0.logs } == calls
    }

    // MARK: Fetches

    /// More often than calls may be open, so that one that is not sent must not count as open.
    @Test func `A plugin learns that its cancellation of a fetch was not sent`() throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        let host = runtime.table
        let table = host.pointee.extension(host, BG_EXT_FETCH)
        let fetches = try #require(table?.load(as: bg_fetches.self))
        let url = "http://127.0.0.1/"
        var fetch: bg_fetch = 0
        plugin.log.withLock { $0.mayCall = true }
        let began = url.withCString { text in
            var request = bg_fetch_request()
            request.size = UInt32(MemoryLayout<bg_fetch_request>.size)
            request.url = bg_str(ptr: text, len: url.utf8.count)
            return fetches.begin(host, run, &request, { _, _, _ in }, nil, &fetch)
        }
        #expect(began == BG_OK && fetch != 0)
        plugin.log.withLock { $0.mayCall = false }
        for _ in 0..<300 { #expect(fetches.cancel(host, fetch) == BG_E_LIMIT) }
        plugin.log.withLock { $0.mayCall = true }
        #expect(fetches.cancel(host, fetch) == BG_OK)
        #expect(complete(runtime) == BG_OK)
    }

    // MARK: The end

    @Test func `A closed runtime ends its threads and refuses calls`() async throws {
        let (_, runtime) = try CompiledPlugin.started()
        let ends = SleepEnds()
        let number = ends.sleep(runtime.table, run).number
        runtime.answer(number, HostAnswer(status: BG_OK))
        await ends.wait(for: 1)
        let thread = try #require(ends.list.first?.thread)
        runtime.leave()
        while ThreadPool.threads.contains(thread) { await Task.yield() }
        #expect(ends.sleep(runtime.table, run).0 == BG_E_CLOSED)
        #expect(complete(runtime) == BG_E_CLOSED)
    }
}
