// SPDX-License-Identifier: Apache-2.0

package import CBghost

extension bg_str {
    /// Lends bytes to the host as long as the buffer is valid.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(ptr: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}

extension String {
    /// Copies the host's text.
    package init(_ text: bg_str) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.ptr, count: text.len), as: UTF8.self)
    }

    /// Lends the text to the host for the duration of one call.
    package func withBgStr<Result>(_ body: (bg_str) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { utf8 in
            try body(bg_str(UnsafeRawBufferPointer(utf8)))
        }
    }
}
