// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostPolicy
internal import FoundationEssentials

/// The format of `bghost run --record`: one JSON object per line, first a header, then events with their
/// decisions.
enum DecisionJournal {
    struct Header: Codable, Equatable {
        var schema = Schema.decisions
        var version: String
        var slots: Int
        var machineID: String
        /// `nil` in the recordings of older versions.
        var bootID: String?
        /// As text, because numbers in JSON have fewer digits.
        var seed: String
        /// The fingerprint of the manifest.
        var manifest: String
    }

    struct Line: Codable {
        var inputs: [SchedulerInput.Entry]
        /// The fingerprints of the decisions, in order.
        var effects: [String]
    }

    static func header(_ settings: Scheduler.Settings, version: String) -> Header {
        Header(
            version: version,
            slots: settings.slots,
            machineID: settings.machineID,
            bootID: settings.bootID,
            seed: String(settings.seed),
            // The manifest itself may contain secrets.
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
