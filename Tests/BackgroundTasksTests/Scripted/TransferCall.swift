// SPDX-License-Identifier: Apache-2.0

import CBghost

/// A transfer that a plugin has started.
struct TransferCall: Equatable, Sendable {
    var flags: UInt32
    var session: String
    var url: String
    var method: String
    /// Lines `Name: value\n`.
    var headers: String
    var file: String

    init(_ request: bg_transfer_request) {
        flags = request.flags
        session = String(copying: request.session)
        url = String(copying: request.url)
        method = String(copying: request.method)
        headers = String(copying: request.headers)
        file = String(copying: request.file)
    }
}

/// A wait for the end of a transfer.
struct TransferWaitCall: @unchecked Sendable {
    // @unchecked: the pointer is the plugin's, which accepts it on any thread.
    let id: String
    let done: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<bg_transfer_end>?) -> Void
    let context: UnsafeMutableRawPointer?

    /// Ends the wait on the calling thread.
    ///
    /// Call it only once.
    ///
    /// - Parameter transfer: the transfer as JSON; `nil` if it continues without the run.
    func end(_ transfer: String?) {
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

extension bg_transfer {
    /// The id as text.
    var text: String {
        withUnsafeBytes(of: id) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Creates the C struct from an id.
    init(text: String) {
        self.init()
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: text.utf8.prefix($0.count - 1)) }
    }
}
