// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import FoundationEssentials

// FoundationEssentials has no such URLs, and its `FileManager` would look into the home of the user whose
// name the process has, which a worker may not write to.

extension URL {
    /// The folder that has the folders of the app: the plugin's data directory.
    private static var container: URL {
        // Outside of a run it is the home of a worker.
        TaskContext.current?.dataDirectory ?? .homeDirectory
    }

    /// The folder of the user's documents: `Documents` in the plugin's data directory.
    public static var documentsDirectory: URL { folder(.documentDirectory) }
    /// The folder of files that the app needs: `Library/Application Support` in the data directory.
    ///
    /// As on iOS, it does not exist until the app creates it; the others do.
    public static var applicationSupportDirectory: URL { folder(.applicationSupportDirectory) }
    /// The folder of files that the app can make again: `Library/Caches` in the data directory.
    ///
    /// bghost does not remove them.
    public static var cachesDirectory: URL { folder(.cachesDirectory) }
    /// The folder of these two: `Library` in the data directory.
    public static var libraryDirectory: URL { folder(.libraryDirectory) }

    private static func folder(_ directory: FileManager.SearchPathDirectory) -> URL {
        let url = container.appending(
            path: name(of: directory) ?? "",
            directoryHint: .isDirectory
        )
        if directory != .applicationSupportDirectory {
            // The app gets the error when it writes into the folder.
            try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        return url
    }

    fileprivate static func ofApp(_ directory: FileManager.SearchPathDirectory) -> URL? {
        name(of: directory) == nil ? nil : folder(directory)
    }

    private static func name(of directory: FileManager.SearchPathDirectory) -> String? {
        switch directory {
        case .documentDirectory: "Documents"
        case .libraryDirectory: "Library"
        case .applicationSupportDirectory: "Library/Application Support"
        case .cachesDirectory: "Library/Caches"
        default: nil
        }
    }
}

extension FileManager {
    /// The folders of the app: documents, application support, caches and library; no others.
    ///
    /// Disfavored for a file that imports FoundationEssentials too: there, the use would be ambiguous.
    ///
    /// - Parameters:
    ///   - directory: which folder.
    ///   - domainMask: the user's domain; others have no folders here.
    @_disfavoredOverload
    public func urls(
        for directory: SearchPathDirectory,
        in domainMask: SearchPathDomainMask
    ) -> [URL] {
        let url = domainMask.contains(.userDomainMask) ? URL.ofApp(directory) : nil
        return url.map { [$0] } ?? []
    }

    /// The folder of the app, as `urls(for:in:)`.
    ///
    /// - Parameters:
    ///   - directory: which folder.
    ///   - domain: the user's domain; others have no folders here.
    ///   - url: has no effect.
    ///   - shouldCreate: whether to create the folder.
    /// - Throws: `CocoaError.fileNoSuchFile` if there is no such folder here; else the error of creating it.
    @_disfavoredOverload
    public func url(
        for directory: SearchPathDirectory,
        in domain: SearchPathDomainMask,
        appropriateFor url: URL?,
        create shouldCreate: Bool
    ) throws -> URL {
        guard domain.contains(.userDomainMask), let folder = URL.ofApp(directory) else {
            throw CocoaError(.fileNoSuchFile)
        }
        if shouldCreate { try createDirectory(at: folder, withIntermediateDirectories: true) }
        return folder
    }
}
