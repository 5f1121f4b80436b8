// SPDX-License-Identifier: Apache-2.0

package import CBghost

/// A fetch that a plugin has started.
package struct FetchCall: @unchecked Sendable {
    // @unchecked: the pointer is the plugin's, which accepts it on any thread.
    package let number: bg_fetch
    package let run: bg_run
    package let url: String
    package let method: String
    /// Lines `Name: value\n`.
    package let headers: String
    package let bytes: [UInt8]
    package let file: String
    package let flags: UInt32
    package let bytesMax: Int64
    /// Milliseconds.
    package let timeout: Int64
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
        bytes = Array(UnsafeRawBufferPointer(start: request.body.ptr, count: request.body.len))
        file = String(copying: request.body_file)
        flags = request.flags
        bytesMax = request.max_bytes
        timeout = request.timeout_ms
        self.done = done
        self.context = context
    }

    /// The body as text.
    package var body: String { String(decoding: bytes, as: UTF8.self) }

    /// Ends the fetch on the calling thread.
    ///
    /// Call it only once.
    package func end(
        status: bg_status = BG_OK,
        http: Int32 = 200,
        headers: String = "",
        body: String = "",
        message: String = ""
    ) {
        end(status: status, http: http, headers: headers, bytes: Array(body.utf8), message: message)
    }

    /// Ends the fetch with a body that need not be text.
    package func end(
        status: bg_status,
        http: Int32,
        headers: String,
        bytes: [UInt8],
        message: String
    ) {
        headers.lend { headers in
            message.lend { message in
                bytes.withUnsafeBytes { body in
                    var result = bg_fetch_result(
                        size: UInt32(MemoryLayout<bg_fetch_result>.size),
                        status: status,
                        http_status: status == BG_OK ? http : 0,
                        reserved: 0,
                        headers: headers,
                        body: bg_str(lending: body),
                        message: message
                    )
                    done(context, number, &result)
                }
            }
        }
    }
}

/// A sleep that a plugin has started.
package struct SleepCall: @unchecked Sendable {
    // @unchecked: the pointer is the plugin's, which accepts it on any thread.
    package let number: bg_sleep
    package let run: bg_run
    /// Monotonic nanoseconds.
    package let until: Int64
    let done: @convention(c) (UnsafeMutableRawPointer?, bg_sleep, bg_status) -> Void
    let context: UnsafeMutableRawPointer?

    /// Ends the sleep on the calling thread.
    ///
    /// Call it only once.
    package func end(_ status: bg_status = BG_OK) { done(context, number, status) }
}
