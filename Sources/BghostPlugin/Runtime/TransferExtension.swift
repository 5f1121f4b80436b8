// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

/// The extension `bghost.transfer/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_transfers>) {
        table.pointee.size = UInt32(MemoryLayout<bg_transfers>.size)
        table.pointee.begin = { host, run, request, out in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.beginTransfer(run, request, out)
        }
        table.pointee.wait = { host, run, transfer, done, context in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.waitForTransfer(run, transfer, done, context)
        }
        table.pointee.cancel = { host, transfer in
            guard let runtime = PluginRuntime.of(host), let id = PluginRuntime.name(of: transfer)
            else {
                return BG_E_ARG
            }
            return runtime.ask(.transfer(.cancel(id: id))).status
        }
        table.pointee.list = { host, session, after, buffer, capacity, need in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.listTransfers(session, after, buffer, capacity, need)
        }
        table.pointee.acknowledge = { host, transfer in
            guard let runtime = PluginRuntime.of(host), let id = PluginRuntime.name(of: transfer)
            else {
                return BG_E_ARG
            }
            return runtime.ask(.transfer(.acknowledge(id: id))).status
        }
    }

    private func beginTransfer(
        _ run: bg_run,
        _ request: UnsafePointer<bg_transfer_request>?,
        _ out: UnsafeMutablePointer<bg_transfer>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard let request = request?.pointee, let out,
            request.size >= MemoryLayout<bg_transfer_request>.size
        else { return BG_E_ARG }
        guard request.fits else { return BG_E_LIMIT }
        guard let transfer = TransferBegin(request) else { return BG_E_ARG }
        let answer = ask(.transfer(.begin(transfer)), of: run, in: slot)
        guard answer.status == BG_OK else { return answer.status }
        guard case .transfer(let id) = answer.body else { return BG_E_FAILED }
        withUnsafeMutableBytes(of: &out.pointee.id) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            for (offset, byte) in id.utf8.prefix(bytes.count - 1).enumerated() {
                bytes[offset] = byte
            }
        }
        return BG_OK
    }

    /// Asks the daemon something in the name of a run that may end meanwhile.
    func ask(_ operation: Call.Operation, of run: bg_run, in slot: RunSlot) -> HostAnswer {
        // Counted before the run is looked at again: until it has its answer, the run keeps its slot,
        // in whose name it asks.
        slot.openFetches.add(1, ordering: .acquiringAndReleasing)
        guard liveSlot(run) === slot else {
            return HostAnswer(status: giveUp(slot, run, BG_E_STALE))
        }
        let answer = ask(operation, run: run)
        // It returns the status that it is given, which `answer` has.
        _ = giveUp(slot, run, answer.status)
        return answer
    }

    private func waitForTransfer(
        _ run: bg_run,
        _ transfer: UnsafePointer<bg_transfer>?,
        _ done: (
            @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<bg_transfer_end>?) -> Void
        )?,
        _ context: UnsafeMutableRawPointer?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard let id = Self.name(of: transfer), let done else { return BG_E_ARG }
        // Increment the count before checking the run again, as for a fetch: the run is not
        // released before `done` has been called.
        slot.openFetches.add(1, ordering: .acquiringAndReleasing)
        let wait = CallTable.TransferWait(run: run, done: done, context: context)
        guard liveSlot(run) === slot, let number = calls.add(.transfer(wait)) else {
            return giveUp(slot, run, liveSlot(run) == nil ? BG_E_STALE : BG_E_LIMIT)
        }
        guard events.call(number, run: run, .transfer(.wait(id: id))) else {
            guard calls.remove(number) != nil else { return BG_OK }
            return giveUp(slot, run, BG_E_LIMIT)
        }
        return BG_OK
    }

    /// Delivers the end of a transfer to its receiver.
    ///
    /// The worker first notifies the daemon, so that the daemon does not deliver the end elsewhere. A run that is
    /// complete takes nothing more: the daemon gives the end to a wake.
    func deliverEnd(_ wait: CallTable.TransferWait, _ number: UInt64, _ answer: HostAnswer) {
        guard case .transfers = answer.body, answer.status == BG_OK else {
            return deliver(wait, answer)
        }
        let slot = slots[RunSlotNumber.of(wait.run)]
        guard slot.change(wait.run, set: RunWord.isTaking, unless: RunWord.isDone) != nil else {
            return deliver(wait, HostAnswer(status: BG_E_CANCELLED))
        }
        // If it cannot be sent, the daemon is gone, and the next one hands the end to a wake again.
        _ = events.call(number, run: 0, .transfer(.took(call: number)))
        // Until its waits have ended, the run keeps its slot, so the word is its own.
        _ = slot.change(wait.run, clear: RunWord.isTaking)
        deliver(wait, answer)
    }

    func deliver(_ wait: CallTable.TransferWait, _ answer: HostAnswer) {
        var json: [UInt8] = []
        if case .transfers(let bytes) = answer.body { json = bytes }
        json.withUnsafeBytes { bytes in
            var end = bg_transfer_end()
            end.size = UInt32(MemoryLayout<bg_transfer_end>.size)
            end.status = answer.status
            end.transfer = bg_str(bytes)
            wait.done(wait.context, &end)
        }
    }

    private func listTransfers(
        _ session: bg_str,
        _ after: UnsafePointer<bg_transfer>?,
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard let session = session.string(max: TransferCall.sessionBytesMax), capacity >= 0,
            capacity == 0 || buffer != nil
        else { return BG_E_ARG }
        var last = ""
        if after != nil {
            guard let id = Self.name(of: after) else { return BG_E_ARG }
            last = id
        }
        let answer = ask(
            .transfer(
                .list(session: session, after: last, bytesMax: UInt32(clamping: capacity))
            )
        )
        return Self.hand(answer, buffer, capacity, need)
    }

    /// Gives a list of transfers into a buffer of the plugin's.
    static func hand(
        _ answer: HostAnswer,
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        switch answer.body {
        case .needs(let count):
            need?.pointee = Int(clamping: count)
            return answer.status
        case .transfers(let json) where answer.status == BG_OK && json.count <= capacity:
            need?.pointee = json.count
            json.withUnsafeBytes { bytes in
                guard let buffer, let source = bytes.baseAddress else { return }
                UnsafeMutableRawPointer(buffer).copyMemory(from: source, byteCount: bytes.count)
            }
            return BG_OK
        default: return answer.status == BG_OK ? BG_E_FAILED : answer.status
        }
    }

    /// The text of an id that a plugin hands back; `nil` if it is none.
    static func name(of transfer: UnsafePointer<bg_transfer>?) -> String? {
        guard let transfer else { return nil }
        return withUnsafeBytes(of: transfer.pointee.id) { bytes in
            let text = bytes.prefix { $0 != 0 }
            let isText = text.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
            return text.count == 26 && isText ? String(decoding: text, as: UTF8.self) : nil
        }
    }
}

extension bg_transfer_request {
    /// Whether every text is within its limit.
    fileprivate var fits: Bool {
        let limits: [(bg_str, Int)] = [
            (url, Call.urlBytesMax), (headers, Call.headerBytesMax), (body, Call.bodyBytesMax),
            (continuation, TransferCall.continuationBytesMax), (label, TransferCall.labelBytesMax),
            (form_field, 256), (form_name, 256), (form_type, 256), (file, 4096),
        ]
        return limits.allSatisfy { UInt(bitPattern: $0.len) <= UInt($1) }
    }
}

extension TransferBegin {
    private static var knownFlags: UInt32 {
        UInt32(
            BG_TRANSFER_UPLOAD | BG_TRANSFER_FORM | BG_TRANSFER_RESUMABLE
                | BG_TRANSFER_DISCRETIONARY | BG_TRANSFER_NO_WAKE
        )
    }

    fileprivate init?(_ request: bg_transfer_request) {
        guard let session = request.session.string(max: TransferCall.sessionBytesMax),
            let url = request.url.string(max: Call.urlBytesMax),
            let method = request.method.string(max: 32),
            let headers = request.headers.string(max: Call.headerBytesMax),
            let body = request.body.bytes(max: Call.bodyBytesMax),
            let file = request.file.string(max: 4096),
            let formField = request.form_field.string(max: 256),
            let formName = request.form_name.string(max: 256),
            let formType = request.form_type.string(max: 256),
            let digest = request.digest.string(max: 64),
            let continuation = request.continuation.string(max: TransferCall.continuationBytesMax),
            let label = request.label.string(max: TransferCall.labelBytesMax),
            // Rule R8 of the ABI: refuse bits 0 to 15 that this host does not know.
            request.flags & 0xFFFF & ~Self.knownFlags == 0,
            min(
                request.earliest_unix_ms,
                request.max_bytes,
                request.idle_timeout_ms,
                request.total_timeout_ms
            ) >= 0
        else { return nil }
        self.init(flags: request.flags, session: session, url: url)
        self.method = method
        self.headers = headers
        self.body = Array(body)
        self.file = file
        self.formField = formField
        self.formName = formName
        self.formType = formType
        self.digest = digest
        self.continuation = continuation
        self.label = label
        earliestUnixMilliseconds = request.earliest_unix_ms
        bytesMax = request.max_bytes
        idleTimeoutMilliseconds = request.idle_timeout_ms
        totalTimeoutMilliseconds = request.total_timeout_ms
    }
}
