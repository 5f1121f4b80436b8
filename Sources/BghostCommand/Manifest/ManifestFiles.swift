// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostControl
internal import BghostLinux
internal import Glibc

/// The manifest as files: `tasks.json`, the drop-ins in `tasks.d` beside it, and the secrets that
/// they name.
package struct ManifestFiles {
    /// What reading them gave.
    package struct Reading {
        /// `nil` if a diagnostic is an error.
        package var manifest: Manifest?
        package var diagnostics: [Diagnostic]
        /// The folder of the main file, absolute.
        package var directory: String
        /// The main file, absolute.
        package var path: String
        /// The names of the drop-ins that were read.
        package var dropInNames: [String] = []

        package var dropIns: Int { dropInNames.count }

        /// All that it was read from, absolute.
        package var files: [String] {
            [path] + dropInNames.map { "\(directory)/tasks.d/\($0)" }
        }

        package var errors: Int { diagnostics.count { $0.severity == .error } }
        package var warnings: Int { diagnostics.count - errors }
    }

    private static let bytesMax = 1 << 20

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - config: the path of the main file, as the user gave it.
    ///   - unresolvedSecrets: how bad a secret without a value is.
    package static func read(
        _ config: String,
        unresolvedSecrets: Diagnostic.Severity = .error
    ) -> Reading {
        let path = ControlLocation.normalized(config)
        let directory = parent(of: path)
        var reading = Reading(
            manifest: nil,
            diagnostics: [],
            directory: directory,
            path: path
        )
        let main: ManifestFile
        switch file(path, name: config) {
        case .success(let file): main = file
        case .failure(let error):
            reading.diagnostics = [.unreadable(file: config, reason: error.reason)]
            return reading
        }
        var dropIns: [ManifestFile] = []
        for name in entries(of: directory + "/tasks.d") {
            switch file("\(directory)/tasks.d/\(name)", name: "tasks.d/\(name)") {
            case .success(let file):
                dropIns.append(file)
                reading.dropInNames.append(name)
            case .failure(let error):
                reading.diagnostics = [
                    .unreadable(file: "tasks.d/\(name)", reason: error.reason)
                ]
                return reading
            }
        }
        let reader = ManifestReader(
            manifestDirectory: directory,
            unresolvedSecrets: unresolvedSecrets,
            resolveSecret: Secrets.resolve,
            zones: Zones.source
        )
        let (manifest, diagnostics) = reader.read(main, dropIns: dropIns)
        reading.manifest = manifest
        reading.diagnostics = diagnostics
        return reading
    }

    private static func file(
        _ path: String,
        name: String
    ) -> Result<ManifestFile, SystemError> {
        // One byte more than is allowed, so that the reader sees that it is too long.
        SmallFile.read(path, bytesMax: bytesMax + 1).map { ManifestFile(name: name, bytes: $0) }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func entries(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".json"), !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}

/// The time zones of the system.
private enum Zones {
    private static let system = SystemZones { try ZoneTable(name: $0, tzif: $1) }

    static let source = ZoneSource(find: system.zone, names: system.names)
}

/// Where the values of secrets come from.
enum Secrets {
    private static let bytesMax = 64 << 10

    static func resolve(_ reference: SecretReference) -> Result<String, SecretError> {
        switch reference.kind {
        case .env:
            guard let value = getenv(reference.name) else {
                return .failure(SecretError("it is not set"))
            }
            return .success(String(cString: value))
        case .file: return contents(of: reference.name)
        case .credential:
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                return .failure(
                    SecretError("there is no credentials directory; a service manager makes it")
                )
            }
            return contents(of: String(cString: folder) + "/" + reference.name)
        }
    }

    private static func contents(of path: String) -> Result<String, SecretError> {
        switch SmallFile.read(path, bytesMax: bytesMax) {
        case .failure(let error): return .failure(SecretError(error.reason))
        case .success(let bytes):
            guard var text = String(validating: bytes, as: UTF8.self) else {
                return .failure(SecretError("the file is not UTF-8"))
            }
            if text.hasSuffix("\n") { text.removeLast() }
            return .success(text)
        }
    }
}

extension ManifestFiles.Reading {
    /// The manifest, or a failure behind what is wrong with it.
    func require(_ console: Console) throws(CommandFailure) -> Manifest {
        if let manifest { return manifest }
        for diagnostic in diagnostics {
            console.remark(diagnostic.rendered(color: console.error.hasColor))
        }
        throw CommandFailure(
            .badManifest,
            "\(path) has \(errors) errors",
            fix: "bghost check --config \(path)"
        )
    }
}
