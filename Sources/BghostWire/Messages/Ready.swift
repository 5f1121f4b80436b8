// SPDX-License-Identifier: Apache-2.0

/// A worker has loaded its plugin and can take runs.
public struct Ready: Equatable, Sendable {
    public struct Handler: Equatable, Sendable {
        public var name: String
        /// `BG_TASK_*`.
        public var flags: UInt32

        public init(name: String, flags: UInt32) {
            self.name = name
            self.flags = flags
        }
    }

    public var id: String
    public var version: String
    public var vendor: String
    public var handlers: [Handler]

    public init(id: String, version: String, vendor: String, handlers: [Handler]) {
        self.id = id
        self.version = version
        self.vendor = vendor
        self.handlers = handlers
    }

    public func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.ready, subject: 0) { fields in
            fields.text(id)
            fields.text(version)
            fields.text(vendor)
            fields.integer(UInt16(handlers.count))
            for handler in handlers {
                fields.text(handler.name)
                fields.integer(handler.flags)
            }
        }
    }

    public init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        id = try fields.text(bytesMax: 1024)
        version = try fields.text(bytesMax: 1024)
        vendor = try fields.text(bytesMax: 1024)
        let count = try fields.integer(UInt16.self)
        guard (1...256).contains(count) else { throw .valueOutOfRange }
        handlers = []
        for _ in 0..<count {
            handlers.append(
                Handler(
                    name: try fields.text(bytesMax: 128), flags: try fields.integer()))
        }
        try fields.end()
    }
}

/// A worker cannot use its plugin, and ends.
public struct Refused: Equatable, Sendable {
    /// A stable word such as `abi-major`.
    public var code: String
    public var message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    public func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.refused, subject: 0) { fields in
            fields.text(code)
            fields.text(message)
        }
    }

    public init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        code = try fields.text(bytesMax: 64)
        message = try fields.text(bytesMax: 4096)
        try fields.end()
    }
}
