// SPDX-License-Identifier: Apache-2.0

/// The first frame to a worker: what to load, with which limits.
///
/// It comes from the daemon, which is trusted, but is parsed with the same checks.
package struct Configure: Equatable, Sendable {
    package enum Code: Equatable, Sendable {
        /// A plugin of the ABI.
        ///
        /// If `isHeld`, the descriptor `WorkerDescriptors.library` is the library, and the path is
        /// for messages only. The descriptors after it are the `heldNeeds` libraries that it needs,
        /// in the order in which the worker must load them.
        case plugin(path: String, isHeld: Bool, heldNeeds: UInt8 = 0)
        case function(library: String, symbol: String, signature: String)
        /// Nothing: the worker only reports the state of its sandbox.
        case nothing
    }

    package var name: String
    package var code: Code
    package var dataDirectory: String
    /// A JSON object.
    package var config: String
    package var slotCount: UInt16
    package var limits: WorkerRlimits
    package var confinement: Confinement
    /// Load the plugin as usual, but only to report its description.
    package var isProbe: Bool
    package var hostVersion: String
    /// Let the daemon and its children trace the worker.
    package var isTraceable: Bool

    package init(
        name: String,
        code: Code,
        dataDirectory: String,
        config: String,
        slotCount: UInt16,
        limits: WorkerRlimits,
        confinement: Confinement,
        isProbe: Bool,
        hostVersion: String,
        isTraceable: Bool = false
    ) {
        self.name = name
        self.code = code
        self.dataDirectory = dataDirectory
        self.config = config
        self.slotCount = slotCount
        self.limits = limits
        self.confinement = confinement
        self.isProbe = isProbe
        self.hostVersion = hostVersion
        self.isTraceable = isTraceable
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        let flags: UInt16 = (isProbe ? 1 : 0) | (isTraceable ? 2 : 0)
        return packets.frame(.configure, flags: flags, subject: 0) { fields in
            fields.text(name)
            switch code {
            case .plugin(let path, let isHeld, let heldNeeds):
                fields.integer(UInt8(isHeld ? 3 : 0))
                fields.text(path)
                if isHeld { fields.integer(heldNeeds) }
            case .function(let library, let symbol, let signature):
                fields.integer(UInt8(1))
                fields.text(library)
                fields.text(symbol)
                fields.text(signature)
            case .nothing: fields.integer(UInt8(2))
            }
            fields.text(dataDirectory)
            fields.text(config)
            fields.integer(slotCount)
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
            code = .plugin(
                path: try fields.text(bytesMax: 4096),
                isHeld: true,
                heldNeeds: try fields.integer()
            )
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
        slotCount = try fields.integer()
        limits = WorkerRlimits(
            addressSpaceBytes: try fields.integer(),
            cpuSeconds: try fields.integer(),
            descriptors: try fields.integer(),
            processes: try fields.integer()
        )
        confinement = try Confinement(&fields)
        hostVersion = try fields.text(bytesMax: 64)
        isProbe = frame.flags & 1 != 0
        isTraceable = frame.flags & 2 != 0
        try fields.end()
        guard slotCount > 0, slotCount <= WorkerSlot.max else { throw .valueOutOfRange }
        if case .plugin(_, _, let needs) = code, needs > UInt8(WorkerDescriptors.needsMax) {
            throw .valueOutOfRange
        }
    }
}

/// The limits that a worker sets on itself before it loads anything.
///
/// 0 means no limit.
package struct WorkerRlimits: Equatable, Sendable {
    /// A backstop behind the daemon's watch over resident memory, bytes.
    package var addressSpaceBytes: UInt64
    /// A backstop behind the daemon's watch over processor time, seconds.
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

/// The descriptors that a worker starts with, besides 0 to 2.
package enum WorkerDescriptors {
    package static let work: Int32 = 3
    package static let control: Int32 = 4
    /// The namespace that maps file owners; another open descriptor where the daemon cannot create
    /// one.
    package static let owners: Int32 = 5
    /// The empty network namespace of the plugin's earlier workers; another open descriptor where
    /// there is none.
    package static let network: Int32 = 6
    /// The plugin's library, where the daemon holds it.
    package static let library: Int32 = 7
    /// The first of the libraries that it needs, where the daemon holds those too.
    package static let needs: Int32 = 8
    package static let needsMax: Int32 = 24
    package static let count = needs + needsMax
}

/// The position of a run in a worker.
///
/// A worker has as many slots as concurrent runs, and the lowest 10 bits of a run's number are its
/// slot.
package enum WorkerSlot {
    static let bits: UInt64 = 10
    package static let max: UInt16 = 1 << 10

    package static func of(_ run: UInt64) -> Int { Int(run & (1 << bits - 1)) }
}
