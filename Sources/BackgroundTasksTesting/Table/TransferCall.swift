// SPDX-License-Identifier: Apache-2.0

package import CBghost

/// A transfer that a plugin has started.
package struct TransferCall: Equatable, Sendable {
    package var run: bg_run
    package var flags: UInt32
    package var session: String
    package var url: String
    package var method: String
    /// Lines `Name: value\n`.
    package var headers: String
    package var bytes: [UInt8]
    package var file: String
    package var continuation: String
    package var label: String
    /// Unix milliseconds; 0 means now.
    package var earliest: Int64
    /// Milliseconds; 0 means the host's default.
    package var idleTimeout: Int64
    package var totalTimeout: Int64

    init(_ run: bg_run, _ request: bg_transfer_request) {
        self.run = run
        flags = request.flags
        session = String(copying: request.session)
        url = String(copying: request.url)
        method = String(copying: request.method)
        headers = String(copying: request.headers)
        bytes = Array(UnsafeRawBufferPointer(start: request.body.ptr, count: request.body.len))
        file = String(copying: request.file)
        continuation = String(copying: request.continuation)
        label = String(copying: request.label)
        earliest = request.earliest_unix_ms
        idleTimeout = request.idle_timeout_ms
        totalTimeout = request.total_timeout_ms
    }

    package var isUpload: Bool { flags & UInt32(BG_TRANSFER_UPLOAD) != 0 }

    /// Whether both transfer the same, regardless of the run, the label and the continuation.
    func isSame(as other: TransferCall) -> Bool {
        session == other.session && url == other.url && method == other.method
            && headers == other.headers && bytes == other.bytes && file == other.file
            && isUpload == other.isUpload
    }
}

/// A wait for the end of a transfer.
package struct TransferWaitCall: @unchecked Sendable {
    // @unchecked: the pointer is the plugin's, which accepts it on any thread.
    package let run: bg_run
    package let id: String
    let done: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<bg_transfer_end>?) -> Void
    let context: UnsafeMutableRawPointer?

    /// Ends the wait on the calling thread.
    ///
    /// Call it only once.
    ///
    /// - Parameter transfer: the transfer as JSON; `nil` if it continues without the run.
    package func end(_ transfer: String?) {
        (transfer ?? "").lend { text in
            var end = bg_transfer_end(
                size: UInt32(MemoryLayout<bg_transfer_end>.size),
                status: transfer == nil ? BG_E_CANCELLED : BG_OK,
                transfer: text
            )
            done(context, &end)
        }
    }
}

/// A notification that a plugin posts.
package struct NotificationCall: Equatable, Sendable {
    package var level: UInt32
    package var id: String
    package var title: String
    package var subtitle: String
    package var body: String
    package var thread: String
    package var category: String
    /// A JSON object, or "".
    package var userInfo: String
    /// A JSON array, or "".
    package var actions: String
    /// Unix milliseconds; 0 means now.
    package var at: Int64
    /// Milliseconds; 0 means once.
    package var every: Int64
    package var calendar: String
    package var timeZone: String

    init(_ posted: bg_notification) {
        level = posted.level
        id = String(copying: posted.id)
        title = String(copying: posted.title)
        subtitle = String(copying: posted.subtitle)
        body = String(copying: posted.body)
        thread = String(copying: posted.thread)
        category = String(copying: posted.category)
        userInfo = String(copying: posted.user_info)
        actions = String(copying: posted.actions)
        at = posted.at_unix_ms
        every = posted.every_ms
        calendar = String(copying: posted.calendar)
        timeZone = String(copying: posted.time_zone)
    }
}

extension bg_transfer {
    /// The id as text.
    package var text: String {
        withUnsafeBytes(of: id) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Creates the C struct from an id.
    package init(text: String) {
        self.init()
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: text.utf8.prefix($0.count - 1)) }
    }
}
