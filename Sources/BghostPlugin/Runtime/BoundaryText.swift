// SPDX-License-Identifier: Apache-2.0

internal import CBghost

extension bg_str {
    /// The bytes; `nil` if the pair is invalid: a length without a pointer, or a length above the
    /// limit.
    func bytes(max: Int) -> UnsafeRawBufferPointer? {
        guard len != 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        // size_t is imported as Int: SIZE_MAX is -1 here.
        guard let ptr, (0...max).contains(len) else { return nil }
        return UnsafeRawBufferPointer(start: ptr, count: len)
    }

    /// A copy; `nil` if it is too long or not UTF-8.
    func string(max: Int) -> String? {
        guard let bytes = bytes(max: max) else { return nil }
        return bytes.isEmpty ? "" : String(validating: bytes, as: UTF8.self)
    }
}

/// Truncates a text to at most `max` bytes without splitting a character.
func truncated(_ bytes: UnsafeRawBufferPointer, max: Int) -> UnsafeRawBufferPointer {
    guard bytes.count > max else { return bytes }
    var end = max
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[..<end])
}

/// Passes on a text for the log, truncated and with invalid UTF-8 replaced.
func withRepairedText<R>(
    _ text: bg_str,
    max: Int,
    _ body: (UnsafeRawBufferPointer) -> R
) -> R? {
    guard text.len != 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    guard let pointer = text.ptr, text.len > 0 else { return nil }
    let bytes = truncated(
        UnsafeRawBufferPointer(start: pointer, count: Swift.min(text.len, max + 4)),
        max: max
    )
    if String(validating: bytes, as: UTF8.self) != nil { return body(bytes) }
    var repaired = String(decoding: bytes, as: UTF8.self)
    return repaired.withUTF8 { body(truncated(UnsafeRawBufferPointer($0), max: max)) }
}

/// Whether the bytes are UTF-8.
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.isEmpty || String(validating: bytes, as: UTF8.self) != nil
}
