// SPDX-License-Identifier: Apache-2.0

/// A worker's report about its crash, or about its threads before it is killed.
///
/// The payload is lines of printable ASCII, each a letter, a space and a text.
package struct Report: Equatable, Sendable {
    package struct Thread: Equatable, Sendable {
        package var name: String
        /// The innermost first.
        package var frames: [String]

        init(name: String, frames: [String]) {
            self.name = name
            self.frames = frames
        }
    }

    static let bytesMax = 24 << 10
    static let threadsMax = 32
    static let framesMax = 32

    /// Whether it reports the stacks of threads; otherwise it reports a crash.
    package var isOfThreads: Bool
    /// The signal of a crash.
    package var signal: Int32 = 0
    /// The faulting instruction.
    package var place = ""
    /// The memory address that the instruction accessed.
    package var address = ""
    package var threads: [Thread] = []

    init(
        isOfThreads: Bool,
        signal: Int32 = 0,
        place: String = "",
        address: String = "",
        threads: [Thread] = []
    ) {
        self.isOfThreads = isOfThreads
        self.signal = signal
        self.place = place
        self.address = address
        self.threads = threads
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        var lines: [String] = []
        if signal != 0 { lines.append("S \(signal)") }
        if !place.isEmpty { lines.append("P \(place)") }
        if !address.isEmpty { lines.append("A \(address)") }
        for thread in threads {
            lines.append("T \(thread.name)")
            lines += thread.frames.map { "F \($0)" }
        }
        let text = Array(lines.map { $0 + "\n" }.joined().utf8)
        return packets.frame(.report, flags: isOfThreads ? 1 : 0, subject: 0) { fields in
            fields.bytes(text)
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        isOfThreads = frame.flags & 1 != 0
        var fields = FieldReader(frame.payload)
        let bytes = try fields.bytes(max: Self.bytesMax)
        try fields.end()
        guard bytes.allSatisfy({ $0 == 10 || (32..<127).contains($0) }) else { throw .notUTF8 }
        for line in bytes.split(separator: 10) {
            let text = String(decoding: line.dropFirst(2), as: UTF8.self)
            switch line.first {
            case UInt8(ascii: "S"): signal = Int32(text) ?? 0
            case UInt8(ascii: "P"): place = text
            case UInt8(ascii: "A"): address = text
            case UInt8(ascii: "T"):
                guard threads.count < Self.threadsMax else { continue }
                threads.append(Thread(name: text, frames: []))
            case UInt8(ascii: "F"):
                guard let last = threads.indices.last,
                    threads[last].frames.count < Self.framesMax
                else { continue }
                threads[last].frames.append(text)
            default: throw .valueOutOfRange
            }
        }
    }
}

/// Asks a worker that is about to be killed for the stacks of its threads.
package struct Explain: Equatable, Sendable {
    package init() {}

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.explain, subject: 0)
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        guard frame.payload.isEmpty else { throw .trailingBytes }
    }
}
