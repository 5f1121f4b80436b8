// SPDX-License-Identifier: Apache-2.0

/// The worker has loaded its plugin and accepts runs.
package struct Ready: Equatable, Sendable {
    package struct Handler: Equatable, Sendable {
        package var name: String
        /// `BG_TASK_*`.
        package var flags: UInt32

        package init(name: String, flags: UInt32) {
            self.name = name
            self.flags = flags
        }
    }

    package var id: String
    package var version: String
    var vendor: String
    package var handlers: [Handler]

    package init(id: String, version: String, vendor: String, handlers: [Handler]) {
        self.id = id
        self.version = version
        self.vendor = vendor
        self.handlers = handlers
    }

    package func write(to packets: inout PacketWriter) -> Bool {
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

    package init(_ frame: borrowing Frame) throws(WireError) {
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
                    name: try fields.text(bytesMax: 128),
                    flags: try fields.integer()
                )
            )
        }
        try fields.end()
    }
}

/// The JSON Schema of one handler's parameters, which a temporary worker reports before `ready`.
package struct Declared: Equatable, Sendable {
    package var handler: String
    package var schema: String

    package init(handler: String, schema: String) {
        self.handler = handler
        self.schema = schema
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.declared, subject: 0) { fields in
            fields.text(handler)
            fields.text(schema)
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        handler = try fields.text(bytesMax: 128)
        schema = try fields.text(bytesMax: 64 << 10)
        try fields.end()
    }
}

/// The worker cannot use its plugin, and exits.
package struct Refused: Equatable, Sendable {
    /// A stable code such as `abi-major`.
    var code: String
    package var message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.refused, subject: 0) { fields in
            fields.text(code)
            fields.text(message)
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        code = try fields.text(bytesMax: 64)
        message = try fields.text(bytesMax: 4096)
        try fields.end()
    }
}
