// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_fetches>) {
        table.pointee.size = UInt32(MemoryLayout<bg_fetches>.size)
        table.pointee.begin = { host, run, request, done, context, out in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.beginFetch(run, request, done, context, out)
        }
        table.pointee.cancel = { host, fetch in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.cancelFetch(fetch)
        }
    }

    private func beginFetch(
        _ run: bg_run,
        _ request: UnsafePointer<bg_fetch_request>?,
        _ done: (
            @convention(c) (UnsafeMutableRawPointer?, bg_fetch, UnsafePointer<bg_fetch_result>?)
                -> Void
        )?,
        _ context: UnsafeMutableRawPointer?,
        _ out: UnsafeMutablePointer<bg_fetch>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard let request = request?.pointee, let done,
            request.size >= MemoryLayout<bg_fetch_request>.size
        else { return BG_E_ARG }
        guard UInt(bitPattern: request.body.len) <= 64 << 10,
            UInt(bitPattern: request.url.len) <= 8 << 10,
            UInt(bitPattern: request.headers.len) <= 32 << 10
        else { return BG_E_LIMIT }
        guard let fetch = FetchCall(request) else { return BG_E_ARG }
        // Increment the count before checking the run again: if the run completes meanwhile, its
        // completion sees the count and leaves the cleanup to `endFetches`.
        slot.openFetches.add(1, ordering: .acquiringAndReleasing)
        guard liveSlot(run) === slot,
            let number = calls.add(
                .fetch(CallTable.FetchWait(run: run, done: done, context: context))
            )
        else {
            return giveUp(slot, run, liveSlot(run) == nil ? BG_E_STALE : BG_E_LIMIT)
        }
        out?.pointee = number
        guard events.call(number, run: run, .fetch(fetch)) else {
            guard calls.remove(number) != nil else { return BG_OK }
            return giveUp(slot, run, BG_E_LIMIT)
        }
        return BG_OK
    }

    /// Decrements the count of a fetch that was not started.
    ///
    /// The count may have delayed the release of the run. The release must not happen on the
    /// plugin's stack, so another thread does it.
    func giveUp(_ slot: RunSlot, _ run: bg_run, _ status: bg_status) -> bg_status {
        slot.openFetches.subtract(1, ordering: .acquiringAndReleasing)
        if slot.current.belongs(to: run), slot.current.has(RunWord.isDone) {
            finisher.run { [self] in finishIfIdle(slot, run) }
        }
        return status
    }

    private func cancelFetch(_ fetch: bg_fetch) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard calls.hasFetch(fetch) else { return BG_E_STALE }
        return askToCancel(fetch) ? BG_OK : BG_E_LIMIT
    }

    /// Asks the daemon to cancel a fetch; its answer is of no interest.
    ///
    /// - Returns: `false` if too many calls are open, or the daemon cannot be asked.
    private func askToCancel(_ fetch: bg_fetch) -> Bool {
        guard let number = calls.add(.thread(CallWait())) else { return false }
        guard events.call(number, run: 0, .cancelFetch(call: fetch)) else {
            // No thread waits for the answer, so the waiter is of no more use.
            _ = calls.remove(number)
            return false
        }
        return true
    }

    /// Delivers the host's answer to its receiver.
    ///
    /// Returns at once: another thread calls the plugin's callback. A sink may answer a call before
    /// its `call` has returned.
    package func answer(_ number: UInt64, _ answer: HostAnswer) {
        guard let waiter = calls.remove(number) else { return }
        switch waiter {
        case .thread(let wait): wait.answer(answer)
        case .fetch(let wait): callBack(waiter, of: wait.run, number, answer)
        case .transfer(let wait): callBack(waiter, of: wait.run, number, answer)
        case .sleep(let wait): callBack(waiter, of: wait.run, number, answer)
        }
    }

    private func callBack(
        _ waiter: CallTable.Waiter,
        of run: UInt64,
        _ number: UInt64,
        _ answer: HostAnswer
    ) {
        slots[RunSlotNumber.of(run)].callbacks.add(on: callers) { [self] in
            switch waiter {
            case .thread: return
            case .fetch(let wait): deliver(wait, number, answer)
            case .transfer(let wait): deliverEnd(wait, number, answer)
            case .sleep(let wait): wait.done(wait.context, number, answer.status)
            }
            fetchEnded(run)
        }
    }

    /// Ends the open fetches, waits and sleeps of a completed run.
    ///
    /// The plugin gets `done` before release().
    func endFetches(of run: UInt64, in slot: RunSlot) {
        guard slot.openFetches.load(ordering: .acquiring) > 0 else { return }
        for (number, wait) in calls.takeFetches(of: run) {
            // The plugin gets its end at once. A fetch that cannot be cancelled ends in the daemon by its
            // own timeout, and then has no receiver.
            _ = askToCancel(number)
            deliver(wait, number, HostAnswer(status: BG_E_CANCELLED))
            slot.openFetches.subtract(1, ordering: .acquiringAndReleasing)
        }
        // The clock's host forgets these by itself.
        for (number, wait) in calls.takeSleeps(of: run) {
            wait.done(wait.context, number, BG_E_CANCELLED)
            slot.openFetches.subtract(1, ordering: .acquiringAndReleasing)
        }
        // The daemon detaches these transfers by itself, and they continue.
        for wait in calls.takeTransfers(of: run) {
            deliver(wait, HostAnswer(status: BG_E_CANCELLED))
            slot.openFetches.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    private func fetchEnded(_ run: UInt64) {
        let slot = slots[RunSlotNumber.of(run)]
        slot.openFetches.subtract(1, ordering: .acquiringAndReleasing)
        if slot.current.belongs(to: run) { finishIfIdle(slot, run) }
    }

    private func deliver(_ wait: CallTable.FetchWait, _ number: UInt64, _ answer: HostAnswer) {
        var http: Int32 = 0
        var headers = ""
        var message = ""
        var body: [UInt8] = []
        if case .fetched(let status, let lines, let text, let bytes) = answer.body {
            (http, headers, message, body) = (status, lines, text, bytes)
        }
        headers.withUTF8 { headers in
            message.withUTF8 { message in
                body.withUnsafeBytes { body in
                    var result = bg_fetch_result()
                    result.size = UInt32(MemoryLayout<bg_fetch_result>.size)
                    result.status = answer.status
                    result.http_status = http
                    result.headers = bg_str(UnsafeRawBufferPointer(headers))
                    result.message = bg_str(UnsafeRawBufferPointer(message))
                    result.body = bg_str(body)
                    wait.done(wait.context, number, &result)
                }
            }
        }
    }
}

extension bg_str {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(
            ptr: bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            len: bytes.count
        )
    }
}

extension FetchCall {
    fileprivate init?(_ request: bg_fetch_request) {
        guard let url = request.url.string(max: 8 << 10),
            let method = request.method.string(max: 32),
            let headers = request.headers.string(max: 32 << 10),
            let body = request.body.bytes(max: 64 << 10),
            let bodyFile = request.body_file.string(max: 4096),
            request.max_bytes >= 0, request.timeout_ms >= 0,
            // Rule R8 of the ABI: refuse bits 0 to 15 that this host does not know.
            request.flags & 0xFFFF & ~UInt32(BG_FETCH_DIGEST) == 0
        else { return nil }
        self.init(
            url: url,
            method: method,
            headers: headers,
            body: Array(body),
            bodyFile: bodyFile,
            sendsDigest: request.flags & UInt32(BG_FETCH_DIGEST) != 0,
            bytesMax: request.max_bytes,
            timeoutMilliseconds: request.timeout_ms
        )
    }
}
