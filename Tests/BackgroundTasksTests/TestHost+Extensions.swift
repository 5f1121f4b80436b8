// SPDX-License-Identifier: Apache-2.0

import CBghost
import Synchronization

/// A fetch that a plugin has begun.
struct FetchCall: @unchecked Sendable {
    var host: TestHost
    var number: bg_fetch
    var run: bg_run
    var url: String
    var method: String
    var headers: String
    var body: String
    var file: String
    var flags: UInt32
    var bytesMax: Int64
    var timeout: Int64
    fileprivate var done:
        @convention(c) (UnsafeMutableRawPointer?, bg_fetch, UnsafePointer<bg_fetch_result>?) -> Void
    fileprivate var context: UnsafeMutableRawPointer?

    /// Ends the fetch, on the calling thread.
    func end(
        status: bg_status = BG_OK,
        http: Int32 = 200,
        headers: String = "",
        body: String = "",
        message: String = ""
    ) {
        lend(headers) { headers in
            lend(body) { body in
                lend(message) { message in
                    var result = bg_fetch_result(
                        size: UInt32(MemoryLayout<bg_fetch_result>.size),
                        status: status,
                        http_status: status == BG_OK ? http : 0,
                        reserved: 0,
                        headers: headers,
                        body: body,
                        message: message
                    )
                    done(context, number, &result)
                }
            }
        }
    }
}

private func lend(_ text: String, _ body: (bg_str) -> Void) {
    var text = text
    text.withUTF8 { bytes in
        let pointer = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
        body(bg_str(ptr: pointer, len: bytes.count))
    }
}

extension TestHost {
    static let scheduleTable = bg_schedule(
        size: UInt32(MemoryLayout<bg_schedule>.size),
        reserved: 0,
        submit: { host, request in
            guard let request = request?.pointee else { return BG_E_ARG }
            let submission = Submission(
                kind: request.kind,
                identifier: text(request.task_id),
                parameters: text(request.params),
                earliest: request.earliest_unix_ms,
                needs: request.needs
            )
            return TestHost.of(host).state.withLock { state in
                state.submissions.append(submission)
                return state.answer
            }
        },
        cancel: { host, identifier in
            let identifier = text(identifier)
            return TestHost.of(host).state.withLock { state in
                state.cancelled.append(identifier)
                return state.answer
            }
        },
        cancel_all: { host in
            TestHost.of(host).state.withLock { state in
                state.cancelled.append("*")
                return state.answer
            }
        },
        pending: { host, out, capacity, total in
            TestHost.of(host).state.withLock { state in
                total?.pointee = state.pending.count
                guard capacity == 0 || out?.pointee.size == UInt32(MemoryLayout<bg_pending>.stride)
                else { return BG_E_ARG }
                for (index, pending) in state.pending.prefix(capacity).enumerated() {
                    out?[index] = pending
                }
                return state.answer
            }
        }
    )

    static let statusTable = bg_statuses(
        size: UInt32(MemoryLayout<bg_statuses>.size),
        reserved: 0,
        refresh: { host, out in
            guard let out, out.pointee.size == UInt32(MemoryLayout<bg_refresh>.size) else {
                return BG_E_ARG
            }
            return TestHost.of(host).state.withLock { state in
                out.pointee = state.refresh
                return state.answer
            }
        },
        missed: { host, run, out in
            guard run != 0, let out, out.pointee.size == UInt32(MemoryLayout<bg_missed>.size) else {
                return BG_E_ARG
            }
            return TestHost.of(host).state.withLock { state in
                out.pointee = state.missed
                return state.answer
            }
        }
    )

    static let fetchTable = bg_fetches(
        size: UInt32(MemoryLayout<bg_fetches>.size),
        reserved: 0,
        begin: { host, run, request, done, context, out in
            guard let request = request?.pointee, let done else { return BG_E_ARG }
            let host = TestHost.of(host)
            let answer = host.state.withLock { $0.fetchAnswer }
            guard answer == BG_OK else { return answer }
            let call = host.state.withLock { state in
                let call = FetchCall(
                    host: host,
                    number: bg_fetch(state.fetches.count + 1),
                    run: run,
                    url: text(request.url),
                    method: text(request.method),
                    headers: text(request.headers),
                    body: text(request.body),
                    file: text(request.body_file),
                    flags: request.flags,
                    bytesMax: request.max_bytes,
                    timeout: request.timeout_ms,
                    done: done,
                    context: context
                )
                state.fetches.append(call)
                return call
            }
            host.onFetch.withLock { $0 }?(call)
            out?.pointee = call.number
            host.fetchBegan.send(call)
            return BG_OK
        },
        cancel: { host, number in
            let host = TestHost.of(host)
            host.state.withLock { $0.fetchesCancelled.append(number) }
            host.fetchCancelled.send(number)
            return BG_OK
        }
    )
}
