// SPDX-License-Identifier: Apache-2.0

import SampleDigests
import FoundationEssentials
import Glibc

/// A photo that waits in the folder.
struct Photo {
    let name: String
    let url: URL
    /// Another one for another version of the photo, as far as can be told without reading it.
    let fingerprint: String

    var mediaType: String { Self.mediaTypes[Self.suffix(of: name)] ?? "application/octet-stream" }

    /// The SHA-256 of its bytes.
    ///
    /// They are read piece by piece: the worker's memory is limited, and a file that is mapped and cut off
    /// meanwhile would end it.
    func checksum() throws -> Data {
        guard let file = fopen(url.path, "re") else {
            throw UploadError(description: "cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var hash = SHA256()
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { break }
            hash.update(data: piece[..<count])
        }
        guard ferror(file) == 0 else {
            throw UploadError(description: "cannot be read: the disk reports an error")
        }
        return Data(hash.finalize())
    }

    private static let mediaTypes = ["jpg": "image/jpeg", "png": "image/png", "heic": "image/heic"]

    private static func suffix(of name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    /// The photos of a folder, in the order of their names.
    ///
    /// What is no regular file is left out, links too: they could point at anything.
    static func all(in folder: String) throws -> [Photo] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            guard mediaTypes[suffix(of: name)] != nil else { return nil }
            let url = URL(filePath: folder).appending(path: name)
            let attributes = try files.attributesOfItem(atPath: url.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular,
                let size = attributes[.size], let modified = attributes[.modificationDate] as? Date
            else { return nil }
            let version = "\(name)/\(size)/\(modified.timeIntervalSince1970)"
            let hash = SHA256.hash(data: Data(version.utf8)).prefix(16)
            // Each byte as two digits.
            let fingerprint = hash.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
            return Photo(name: name, url: url, fingerprint: fingerprint)
        }
    }
}
