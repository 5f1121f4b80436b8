// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The system's time zones, each read once.
///
/// The creator passes a parser, so this type does not depend on the representation of a zone. All
/// methods may be called from any thread; the first lookup of a zone reads a file and blocks for
/// that long.
package final class SystemZones<Zone: Sendable>: Sendable {
    /// The folder of the zone files.
    let directory: String
    private let parse: @Sendable (_ name: String, _ bytes: [UInt8]) throws -> Zone
    private let known = Mutex<[String: Zone]>([:])

    /// Uses a folder, by default `TZDIR` of the environment, else `/usr/share/zoneinfo`.
    ///
    /// - Parameter parse: creates a zone from a name and the bytes of a compiled zone (TZif). Its
    ///   errors are passed on.
    package init(
        directory: String? = nil,
        parse: @escaping @Sendable (_ name: String, _ bytes: [UInt8]) throws -> Zone
    ) {
        self.directory = directory ?? ZoneFiles.defaultDirectory
        self.parse = parse
    }

    /// The zone with an IANA name, such as `Europe/Berlin`; `UTC` is available on any system.
    ///
    /// - Throws: `ZoneFileError`, or what `parse` throws.
    package func zone(_ name: String) throws -> Zone {
        if let zone = known.withLock({ $0[name] }) { return zone }
        // Two threads may read one file at the same time, and get equal zones.
        let zone = try parse(name, ZoneFiles.read(name, in: directory))
        return known.withLock { known in
            // A manifest names a few zones; there are some 600 names in all.
            if known.count < ZoneFiles.namesMax { known[name] = zone }
            return zone
        }
    }

    /// All names, sorted, for suggestions after a misspelt name; at least `UTC`.
    package func names() -> [String] { ZoneFiles.names(in: directory) }

    /// The version of the time zone database, such as `2025b`, or `unknown`.
    func version() -> String { ZoneFiles.version(in: directory) }
}

/// Why a zone could not be read.
enum ZoneFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name is invalid: empty, too long, an absolute path, with `..`, or with characters that
    /// no zone name has.
    case badName
    /// The database exists but has no such zone.
    case notFound
    /// The folder contains no zones at all.
    case noDatabase(directory: String)
    case unreadable(SystemError)

    var description: String {
        switch self {
        case .badName: "it is no name of a time zone; names look like Europe/Berlin or UTC"
        case .notFound: "the system has no such time zone; `UTC` and `Europe/Berlin` are names"
        case .noDatabase(let directory):
            "there are no time zones in \(directory); install the package tzdata"
        case .unreadable(let error): error.description
        }
    }
}
