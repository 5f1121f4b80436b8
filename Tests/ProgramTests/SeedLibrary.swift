// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// The library of all listings, made to be the app of one of them.
enum SeedLibrary {
    private static let mark = Array("bgh-seed".utf8)

    /// Copies it into a folder.
    ///
    /// - Parameter app: a name of `Tests/SeedPlugin/Entry.swift`.
    /// - Returns: the path of the copy.
    static func make(_ app: String, in folder: TemporaryDirectory) throws -> String {
        try #require(app.utf8.count < 24)
        var bytes = try File.read(Artifact.path("libSeedPlugin.so"))
        let places = bytes.places(of: mark)
        try #require(places.count == 1)
        let place = places[0] + mark.count
        bytes.replaceSubrange(place..<(place + app.utf8.count), with: app.utf8)
        return try folder.write(bytes, to: "lib\(app).so")
    }
}
