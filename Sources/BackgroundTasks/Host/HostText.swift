// SPDX-License-Identifier: Apache-2.0

internal import CBghost

extension bg_str {
    /// Lends bytes to the host, for as long as the buffer is valid.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(ptr: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}

extension String {
    /// Copies text of the host.
    init(_ text: bg_str) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.ptr, count: text.len), as: UTF8.self)
    }

    /// Lends the text to the host for one call.
    func withBgStr<Result>(_ body: (bg_str) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { utf8 in
            try body(bg_str(UnsafeRawBufferPointer(utf8)))
        }
    }
}
