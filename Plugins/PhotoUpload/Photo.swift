// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A photo that waits in the spool folder.
struct Photo {
    var name: String
    var path: String
    var size: Int
    /// Milliseconds since 1970.
    var modified: Int64

    /// Another for another content, as far as can be told without reading it.
    var version: String { "\(size)-\(modified)" }

    var mediaType: String { Self.mediaTypes[Self.suffix(of: name)] ?? "application/octet-stream" }

    private static let mediaTypes = ["jpg": "image/jpeg", "png": "image/png", "heic": "image/heic"]

    private static func suffix(of name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    /// The photos of a folder, in the order of their names.
    ///
    /// What is no regular file is left out, links too: they could point at anything.
    static func all(in folder: String) throws -> [Photo] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            guard mediaTypes[suffix(of: name)] != nil else { return nil }
            let path = folder + "/" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeRegular,
                // A UInt, unless full Foundation is in the process, which makes it a number object.
                let size = attributes[.size] as? Int
                    ?? (attributes[.size] as? UInt).flatMap(Int.init(exactly:)),
                let modified = attributes[.modificationDate] as? Date
            else { return nil }
            let milliseconds = Int64((modified.timeIntervalSince1970 * 1000).rounded())
            return Photo(name: name, path: path, size: size, modified: milliseconds)
        }
    }
}
