// SPDX-License-Identifier: Apache-2.0

package import CBghost

extension String {
    /// Copies a plugin's text.
    package init(copying text: bg_str) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.ptr, count: text.len), as: UTF8.self)
    }

    /// Lends the text to a plugin for the duration of one call.
    package func lend<Result>(_ body: (bg_str) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { try body(bg_str(lending: UnsafeRawBufferPointer($0))) }
    }
}

extension bg_str {
    /// Lends bytes, for as long as the buffer is valid.
    package init(lending bytes: UnsafeRawBufferPointer) {
        self.init(ptr: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}
