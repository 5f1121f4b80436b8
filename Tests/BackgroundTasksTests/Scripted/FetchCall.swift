// SPDX-License-Identifier: Apache-2.0

import CBghost

/// A fetch that a plugin has started.
struct FetchCall: @unchecked Sendable {
    // @unchecked: the pointer is the plugin's, which accepts it on any thread.
    let number: bg_fetch
    let run: bg_run
    let url: String
    let method: String
    /// Lines `Name: value\n`.
    let headers: String
    let body: String
    let file: String
    let flags: UInt32
    let bytesMax: Int64
    /// Milliseconds.
    let timeout: Int64
    private let done:
        @convention(c) (UnsafeMutableRawPointer?, bg_fetch, UnsafePointer<bg_fetch_result>?) -> Void
    private let context: UnsafeMutableRawPointer?

    init(
        _ number: bg_fetch,
        of run: bg_run,
        _ request: bg_fetch_request,
        done:
            @escaping @convention(c) (
                UnsafeMutableRawPointer?, bg_fetch, UnsafePointer<bg_fetch_result>?
            ) -> Void,
        context: UnsafeMutableRawPointer?
    ) {
        self.number = number
        self.run = run
        url = String(copying: request.url)
        method = String(copying: request.method)
        headers = String(copying: request.headers)
        body = String(copying: request.body)
        file = String(copying: request.body_file)
        flags = request.flags
        bytesMax = request.max_bytes
        timeout = request.timeout_ms
        self.done = done
        self.context = context
    }

    /// Ends the fetch on the calling thread.
    ///
    /// Call it only once.
    func end(
        status: bg_status = BG_OK,
        http: Int32 = 200,
        headers: String = "",
        body: String = "",
        message: String = ""
    ) {
        headers.lend { headers in
            message.lend { message in
                body.lend { body in
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

/// A sleep that a plugin has started.
struct SleepCall: @unchecked Sendable {
    // @unchecked: the pointer is the plugin's, which accepts it on any thread.
    let number: bg_sleep
    let run: bg_run
    /// Monotonic nanoseconds.
    let until: Int64
    let done: @convention(c) (UnsafeMutableRawPointer?, bg_sleep, bg_status) -> Void
    let context: UnsafeMutableRawPointer?

    /// Ends the sleep on the calling thread.
    ///
    /// Call it only once.
    func end(_ status: bg_status = BG_OK) { done(context, number, status) }
}
