// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The time zones that the system has, each read once.
///
/// What a zone is does not matter here: it is made of the bytes of its file by whoever makes this.
/// All of it may be called from any thread; a first look at a zone reads a file and blocks for as
/// long.
package final class SystemZones<Zone: Sendable>: Sendable {
    /// Where the zones lie.
    package let directory: String
    private let parse: @Sendable (_ name: String, _ bytes: [UInt8]) throws -> Zone
    private let known = Mutex<[String: Zone]>([:])

    /// Looks into a folder, by default `TZDIR` of the environment, else `/usr/share/zoneinfo`.
    ///
    /// - Parameter parse: makes a zone of a name and the bytes of a compiled zone (TZif); what it
    ///   throws is thrown on.
    package init(
        directory: String? = nil,
        parse: @escaping @Sendable (_ name: String, _ bytes: [UInt8]) throws -> Zone
    ) {
        self.directory = directory ?? ZoneFiles.defaultDirectory
        self.parse = parse
    }

    /// The zone of an IANA name, such as `Europe/Berlin`; `UTC` is there on any system.
    ///
    /// - Throws: `ZoneFileError`, or what `parse` throws.
    package func zone(_ name: String) throws -> Zone {
        if let zone = known.withLock({ $0[name] }) { return zone }
        // Two threads may read one file at once, and get equal zones.
        let zone = try parse(name, ZoneFiles.read(name, in: directory))
        return known.withLock { known in
            // A manifest names a few zones; there are some 600 names to cache in all.
            if known.count < ZoneFiles.namesMax { known[name] = zone }
            return zone
        }
    }

    /// All names, sorted, to find what a misspelt one may have meant; at least `UTC`.
    package func names() -> [String] { ZoneFiles.names(in: directory) }

    /// The version of the time zone database, such as `2025b`, or `unknown`.
    package func version() -> String { ZoneFiles.version(in: directory) }
}

/// Why a zone could not be read.
package enum ZoneFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is not written as a zone is: empty, too long, an absolute path, with `..`, or with
    /// characters that no name has.
    case badName
    /// There are zones, but not this one.
    case notFound
    /// There are no zones at all in this folder.
    case noDatabase(directory: String)
    case unreadable(SystemError)

    package var description: String {
        switch self {
        case .badName: "it is no name of a time zone; names look like Europe/Berlin or UTC"
        case .notFound: "the system has no such time zone; `UTC` and `Europe/Berlin` are names"
        case .noDatabase(let directory):
            "there are no time zones in \(directory); install the package tzdata"
        case .unreadable(let error): error.description
        }
    }
}
