// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds needed libraries in the same folders as the loader of glibc.
///
/// It ignores `LD_LIBRARY_PATH`, which workers do not inherit.
struct LoaderSearch {
    /// The folders for the libraries that one library needs.
    struct Folders {
        /// Its `DT_RUNPATH`; without one, its `DT_RPATH` and those of the libraries that needed it.
        var searched: [String] = []
        /// The `DT_RPATH`s that also apply to the libraries that it needs.
        var passedOn: [String] = []
    }

    private static let cachePath = "/etc/ld.so.cache"
    private static let cacheBytesMax = 16 << 20
    private static let foldersMax = 32
    private static let standard = [
        "/lib/\(Machine.host.triplet)", "/usr/lib/\(Machine.host.triplet)", "/lib64",
        "/usr/lib64", "/lib", "/usr/lib",
    ]

    /// The paths in `/etc/ld.so.cache`, by name.
    private let cached: [String: [String]]

    init() {
        // Without a cache, as on Alpine, the loader searches the folders only.
        cached = (try? Self.readCache()).map(Self.parse) ?? [:]
    }

    /// The possible paths of a library, in the order in which the loader tries them.
    func candidates(_ name: String, _ folders: Folders) -> [String] {
        guard !name.contains("/") else { return [name] }
        return folders.searched.prefix(Self.foldersMax).map { "\($0)/\(name)" }
            + (cached[name] ?? [])
            + Self.standard.map { "\($0)/\(name)" }
    }

    private static func readCache() throws(ImageError) -> FileBytes {
        let descriptor = try BoundedFile.open(cachePath)
        defer { close(descriptor) }
        let file = try BoundedFile(descriptor: descriptor, path: cachePath)
        let count = min(file.identity.sizeBytes, UInt64(cacheBytesMax))
        return try file.read("the cache", at: 0, count: count)
    }

    /// Parses the format "glibc-ld.so.cache1.1": a header of 48 bytes, entries of 24 bytes, then
    /// texts.
    private static func parse(_ cache: FileBytes) -> [String: [String]] {
        let magic = Array("glibc-ld.so.cache1.1".utf8)
        // Older systems put an older table in front; offsets count from the newer one.
        guard let start = cache.bytes.firstRange(of: magic)?.lowerBound,
            let count = cache.integer(at: start + 20, as: UInt32.self)
        else { return [:] }
        var paths: [String: [String]] = [:]
        for index in 0..<min(Int(count), cache.count / 24) {
            let entry = start + 48 + index * 24
            // Skip the variants for newer processors; a plain library exists beside them.
            guard cache.integer(at: entry + 16, as: UInt64.self) == 0,
                let key: UInt32 = cache.integer(at: entry + 4),
                let value: UInt32 = cache.integer(at: entry + 8),
                let name = cache.string(at: UInt64(start) + UInt64(key), limit: 255),
                let path = cache.string(at: UInt64(start) + UInt64(value), limit: 4096)
            else { continue }
            paths[String(decoding: name, as: UTF8.self), default: []]
                .append(String(decoding: path, as: UTF8.self))
        }
        return paths
    }
}

extension Machine {
    /// The name of the folder for the machine's libraries on Debian and its derivatives.
    fileprivate var triplet: String {
        self == Machine(code: 183) ? "aarch64-linux-gnu" : "x86_64-linux-gnu"
    }
}
