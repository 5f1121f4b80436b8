// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostRecords
internal import FoundationEssentials

/// The file of `bghost run --record`: one JSON object in each line, a header and then what happened
/// with what was decided.
enum DecisionJournal {
    struct Header: Codable, Equatable {
        var schema = Schema.decisions
        var version: String
        var slots: Int
        var machineID: String
        /// As text: JSON's numbers have fewer digits.
        var seed: String
        /// Tells one manifest from another.
        var manifest: String
    }

    struct Line: Codable {
        var inputs: [SchedulerInput.Entry]
        /// The fingerprints of what was decided, in order.
        var effects: [String]
    }

    static func header(_ settings: Scheduler.Settings, version: String) -> Header {
        Header(
            version: version,
            slots: settings.slots,
            machineID: settings.machineID,
            seed: String(settings.seed),
            // The manifest itself may have secrets in it.
            manifest: settings.manifest.fingerprint
        )
    }

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        Array(try JSONEncoder().encode(value)) + [UInt8(ascii: "\n")]
    }

    static func decode<Value: Decodable>(_ line: [UInt8]) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(line))
    }
}
