// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Frames that wait for room on a worker's control socket, some with a descriptor.
package struct ReplyQueue: ~Copyable {
    private struct Item {
        var bytes: [UInt8]
        /// -1 for none.
        var descriptor: Int32
        /// Sent in its place if the kernel will not pass the descriptor.
        var instead: [UInt8]
    }

    private var items: [Item] = []
    /// What waits, with a descriptor counted as what it may stand for.
    package private(set) var bytes = 0
    package var isEmpty: Bool { items.isEmpty }

    /// What a descriptor counts for: it may stand for much memory, and the daemon has only so many.
    private static let descriptorCost = 16 << 10

    package init() {}

    deinit {
        for item in items where item.descriptor >= 0 { close(item.descriptor) }
    }

    /// Adds a frame, behind those that wait.
    ///
    /// - Parameters:
    ///   - descriptor: goes along, and is owned by the queue from here on; -1 for none.
    ///   - instead: a frame that says that it cannot be had.
    package mutating func add(_ frame: [UInt8], descriptor: Int32 = -1, instead: [UInt8] = []) {
        items.append(Item(bytes: frame, descriptor: descriptor, instead: instead))
        bytes += frame.count + (descriptor < 0 ? 0 : Self.descriptorCost)
    }

    /// Sends what there is room for.
    ///
    /// - Parameter send: sends one packet, with a descriptor unless that is negative, and answers 0
    ///   or the error number. It does not wait.
    package mutating func flush(_ send: (UnsafeRawBufferPointer, Int32) -> Int32) {
        var sent = 0
        for index in items.indices {
            var error = items[index].bytes.withUnsafeBytes { send($0, items[index].descriptor) }
            if items[index].descriptor >= 0, Self.isRefusal(error) {
                // Whoever waits for it must not wait for ever: it is told that there was no room.
                dropDescriptor(of: index)
                error = items[index].bytes.withUnsafeBytes { send($0, -1) }
            }
            // A broken socket is noticed by the end of the process, and nothing is owed to it.
            guard error != EAGAIN else { break }
            dropDescriptor(of: index)
            bytes -= items[index].bytes.count
            sent += 1
        }
        items.removeFirst(sent)
    }

    private mutating func dropDescriptor(of index: Int) {
        guard items[index].descriptor >= 0 else { return }
        close(items[index].descriptor)
        bytes -= Self.descriptorCost + items[index].bytes.count
        items[index].descriptor = -1
        items[index].bytes = items[index].instead
        bytes += items[index].bytes.count
    }

    /// Whether the kernel passes no descriptor now, while the socket is sound: as many are on their way
    /// between processes of this user as may be (`ETOOMANYREFS`), which other workers can bring
    /// about, or there is no memory for it.
    private static func isRefusal(_ error: Int32) -> Bool {
        [ETOOMANYREFS, ENOMEM, ENOBUFS, EMFILE, ENFILE].contains(error)
    }
}
