// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The events that one read of an inotify descriptor returned, in their order.
struct InotifyEvents: Sequence, IteratorProtocol {
    struct Event {
        /// The watch of the folder.
        let watch: Int32
        /// The name of the file in the folder; "" if the event concerns the folder itself.
        let name: String
        private let mask: UInt32

        fileprivate init(_ event: inotify_event, name: String) {
            watch = event.wd
            mask = event.mask
            self.name = name
        }

        /// Whether any of these bits is set, such as `IN_DELETE`.
        func has(_ bits: some BinaryInteger) -> Bool { mask & UInt32(bits) != 0 }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// - Parameter bytes: what was read; valid for as long as the events are gone through.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> Event? {
        let begin = offset + MemoryLayout<inotify_event>.size
        guard begin <= bytes.count else { return nil }
        let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let end = begin + Int(event.len)
        guard end <= bytes.count else { return nil }
        offset = end
        let name = bytes[begin..<end].prefix { $0 != 0 }
        return Event(event, name: String(decoding: name, as: UTF8.self))
    }
}
