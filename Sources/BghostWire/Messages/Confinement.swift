// SPDX-License-Identifier: Apache-2.0

/// The sandbox that a worker applies to itself before it loads anything.
///
/// Layers and access rights are numbers here; the daemon's own types name them.
package struct Confinement: Equatable, Sendable {
    package struct Grant: Equatable, Sendable {
        package var path: String
        package var access: UInt8

        package init(path: String, access: UInt8) {
            self.path = path
            self.access = access
        }
    }

    /// A seccomp program.
    package struct Filter: Equatable, Sendable {
        /// The kernel's form, eight bytes per instruction.
        package var instructions: [UInt8]
        /// The indices of instructions whose operand becomes the worker's own process id.
        package var ownProcess: [UInt16]

        package init(instructions: [UInt8], ownProcess: [UInt16]) {
            self.instructions = instructions
            self.ownProcess = ownProcess
        }
    }

    /// The requested layers, as a bit set.
    package var wanted: UInt32
    /// The layers without which the worker must load nothing, as a bit set.
    package var required: UInt32
    /// The user that the worker becomes; 0 to keep its user.
    package var user: UInt32
    package var grants: [Grant]
    package var scratchBytes: UInt64
    /// The filter for a worker with its own file system.
    package var filter: Filter
    /// The filter for a worker that can see other users' files.
    package var filterAmongFiles: Filter

    package init(
        wanted: UInt32,
        required: UInt32,
        user: UInt32,
        grants: [Grant],
        scratchBytes: UInt64,
        filter: Filter,
        filterAmongFiles: Filter
    ) {
        self.wanted = wanted
        self.required = required
        self.user = user
        self.grants = grants
        self.scratchBytes = scratchBytes
        self.filter = filter
        self.filterAmongFiles = filterAmongFiles
    }

    func write(to fields: inout FieldWriter) {
        fields.integer(wanted)
        fields.integer(required)
        fields.integer(user)
        fields.integer(scratchBytes)
        fields.integer(UInt16(clamping: grants.count))
        for grant in grants.prefix(Int(UInt16.max)) {
            fields.text(grant.path)
            fields.integer(grant.access)
        }
        for filter in [filter, filterAmongFiles] {
            fields.bytes(filter.instructions)
            fields.integer(UInt16(clamping: filter.ownProcess.count))
            for index in filter.ownProcess { fields.integer(index) }
        }
    }

    init(_ fields: inout FieldReader) throws(WireError) {
        wanted = try fields.integer()
        required = try fields.integer()
        user = try fields.integer()
        scratchBytes = try fields.integer()
        grants = []
        for _ in 0..<(try fields.integer(UInt16.self)) {
            grants.append(
                Grant(path: try fields.text(bytesMax: 4096), access: try fields.integer())
            )
        }
        filter = try Self.readFilter(&fields)
        filterAmongFiles = try Self.readFilter(&fields)
    }

    private static func readFilter(_ fields: inout FieldReader) throws(WireError) -> Filter {
        let instructions = try fields.bytes(max: 4096 * 8)
        guard instructions.count % 8 == 0 else { throw .valueOutOfRange }
        var ownProcess: [UInt16] = []
        for _ in 0..<(try fields.integer(UInt16.self)) {
            let index: UInt16 = try fields.integer()
            guard Int(index) < instructions.count / 8 else { throw .valueOutOfRange }
            ownProcess.append(index)
        }
        return Filter(instructions: instructions, ownProcess: ownProcess)
    }
}

/// The worker's report about its sandbox, sent before any code of its plugin runs.
package struct Confined: Equatable, Sendable {
    package struct Layer: Equatable, Sendable {
        /// The bit of the layer.
        package var bit: UInt32
        package var state: UInt8
        package var detail: String

        package init(bit: UInt32, state: UInt8, detail: String) {
            self.bit = bit
            self.state = state
            self.detail = detail
        }
    }

    /// A forbidden act that a worker attempted as a test.
    package struct Trial: Equatable, Sendable {
        package var name: String
        /// The `errno` that prevented it; 0 if it succeeded.
        package var error: Int32

        package init(name: String, error: Int32) {
            self.name = name
            self.error = error
        }
    }

    package var layers: [Layer]
    /// Paths that the manifest grants and that do not exist.
    package var absent: [String]
    package var trials: [Trial]

    package init(layers: [Layer], absent: [String], trials: [Trial]) {
        self.layers = layers
        self.absent = absent
        self.trials = trials
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.confined, subject: 0) { fields in
            fields.integer(UInt8(clamping: layers.count))
            for layer in layers.prefix(Int(UInt8.max)) {
                fields.integer(layer.bit)
                fields.integer(layer.state)
                fields.text(String(decoding: layer.detail.utf8.prefix(512), as: UTF8.self))
            }
            fields.integer(UInt8(clamping: absent.count))
            for path in absent.prefix(Int(UInt8.max)) { fields.text(path) }
            fields.integer(UInt8(clamping: trials.count))
            for trial in trials.prefix(Int(UInt8.max)) {
                fields.text(trial.name)
                fields.integer(trial.error)
            }
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        layers = []
        for _ in 0..<(try fields.integer(UInt8.self)) {
            layers.append(
                Layer(
                    bit: try fields.integer(),
                    state: try fields.integer(),
                    // Larger than the sender's limit: replacing a truncated character makes the
                    // text longer.
                    detail: try fields.text(bytesMax: 1024)
                )
            )
        }
        absent = []
        for _ in 0..<(try fields.integer(UInt8.self)) {
            absent.append(try fields.text(bytesMax: 4096))
        }
        trials = []
        for _ in 0..<(try fields.integer(UInt8.self)) {
            trials.append(
                Trial(name: try fields.text(bytesMax: 128), error: try fields.integer())
            )
        }
        try fields.end()
    }
}
