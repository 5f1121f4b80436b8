// SPDX-License-Identifier: Apache-2.0
import SampleDigests
import FoundationEssentials

/// A photo in the spool folder.
package struct SpooledPhoto: Equatable, Sendable {
    package var name: String
    package var bytes: Int
    /// Lower-case hexadecimal digits.
    package var sha256: String

    package init(name: String, bytes: Int, sha256: String) {
        self.name = name
        self.bytes = bytes
        self.sha256 = sha256
    }

    /// The file suffixes of photos for the upload.
    private static let suffixes = [".jpg", ".png", ".heic"]

    /// The photos of a folder by name: regular files with a photo's suffix.
    ///
    /// Read them before the play, because the upload may remove them.
    package static func all(in folder: String) throws -> [SpooledPhoto] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            let path = "\(folder)/\(name)"
            let type = try files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            guard type == .typeRegular, suffixes.contains(where: name.lowercased().hasSuffix)
            else { return nil }
            let data = try Data(contentsOf: URL(filePath: path))
            return SpooledPhoto(
                name: name,
                bytes: data.count,
                sha256: hexadecimal(SHA256.hash(data: data))
            )
        }
    }
}
