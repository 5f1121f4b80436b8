// SPDX-License-Identifier: Apache-2.0

/// The first frame that a worker gets: what to load and within which limits.
///
/// Sent by the daemon, which is trusted, but read with the same care.
package struct Configure: Equatable, Sendable {
    package enum Code: Equatable, Sendable {
        /// A plugin of the ABI.
        ///
        /// If it is held, descriptor `WorkerDescriptors.library` is the library, and the path is for
        /// messages only.
        case plugin(path: String, isHeld: Bool)
        case function(library: String, symbol: String, signature: String)
        /// Nothing: the worker is only asked what its walls are.
        case nothing
    }

    package var name: String
    package var code: Code
    package var dataDirectory: String
    /// A JSON object.
    package var config: String
    package var lanes: UInt16
    package var limits: WorkerRlimits
    package var confinement: Confinement
    /// Handle the plugin like any other, but load it only to say what it is.
    package var isProbe: Bool
    package var hostVersion: String

    package init(
        name: String,
        code: Code,
        dataDirectory: String,
        config: String,
        lanes: UInt16,
        limits: WorkerRlimits,
        confinement: Confinement,
        isProbe: Bool,
        hostVersion: String
    ) {
        self.name = name
        self.code = code
        self.dataDirectory = dataDirectory
        self.config = config
        self.lanes = lanes
        self.limits = limits
        self.confinement = confinement
        self.isProbe = isProbe
        self.hostVersion = hostVersion
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.configure, flags: isProbe ? 1 : 0, subject: 0) { fields in
            fields.text(name)
            switch code {
            case .plugin(let path, let isHeld):
                fields.integer(UInt8(isHeld ? 3 : 0))
                fields.text(path)
            case .function(let library, let symbol, let signature):
                fields.integer(UInt8(1))
                fields.text(library)
                fields.text(symbol)
                fields.text(signature)
            case .nothing: fields.integer(UInt8(2))
            }
            fields.text(dataDirectory)
            fields.text(config)
            fields.integer(lanes)
            fields.integer(limits.addressSpaceBytes)
            fields.integer(limits.cpuSeconds)
            fields.integer(limits.descriptors)
            fields.integer(limits.processes)
            confinement.write(to: &fields)
            fields.text(hostVersion)
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        name = try fields.text(bytesMax: 256)
        switch try fields.integer(UInt8.self) {
        case 0:
            code = .plugin(path: try fields.text(bytesMax: 4096), isHeld: false)
        case 3:
            code = .plugin(path: try fields.text(bytesMax: 4096), isHeld: true)
        case 1:
            code = .function(
                library: try fields.text(bytesMax: 4096),
                symbol: try fields.text(bytesMax: 1024),
                signature: try fields.text(bytesMax: 16 << 10)
            )
        case 2: code = .nothing
        default: throw .valueOutOfRange
        }
        dataDirectory = try fields.text(bytesMax: 4096)
        config = try fields.text(bytesMax: FrameLayout.packetBytesMax)
        lanes = try fields.integer()
        limits = WorkerRlimits(
            addressSpaceBytes: try fields.integer(),
            cpuSeconds: try fields.integer(),
            descriptors: try fields.integer(),
            processes: try fields.integer()
        )
        confinement = try Confinement(&fields)
        hostVersion = try fields.text(bytesMax: 64)
        isProbe = frame.flags & 1 != 0
        try fields.end()
        guard lanes > 0, lanes <= Lane.max else { throw .valueOutOfRange }
    }
}

/// The limits that a worker sets on itself before it loads anything.
///
/// 0 is "none".
package struct WorkerRlimits: Equatable, Sendable {
    /// A backstop behind the daemon's watch over resident memory.
    package var addressSpaceBytes: UInt64
    /// A backstop behind the daemon's watch over processor time.
    package var cpuSeconds: UInt32
    package var descriptors: UInt32
    package var processes: UInt32

    package init(
        addressSpaceBytes: UInt64,
        cpuSeconds: UInt32,
        descriptors: UInt32,
        processes: UInt32
    ) {
        self.addressSpaceBytes = addressSpaceBytes
        self.cpuSeconds = cpuSeconds
        self.descriptors = descriptors
        self.processes = processes
    }
}

/// The descriptors that a worker begins with, besides 0 to 2.
package enum WorkerDescriptors {
    package static let work: Int32 = 3
    package static let control: Int32 = 4
    /// Owners of files as a namespace, or something else where the daemon can make none.
    package static let owners: Int32 = 5
    /// A plugin's library, where the daemon holds it.
    package static let library: Int32 = 6
    package static let count: Int32 = 7
}

/// Where in a worker a run is: workers have as many lanes as they may have runs at once, and the
/// lowest 10 bits of a run's number are its lane.
package enum Lane {
    package static let bits: UInt64 = 10
    package static let max: UInt16 = 1 << 10

    package static func of(_ run: UInt64) -> Int { Int(run & (1 << bits - 1)) }
}
