// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostCalendar
internal import BghostLinux
package import BghostManifest
package import BghostModel
internal import BghostControl
internal import BghostFunctionCalls
internal import BghostTerminal
internal import BghostTrust
internal import Glibc

/// The files of a manifest: `tasks.json`, the drop-ins in `tasks.d` beside it, and the secrets that they
/// reference.
package struct ManifestFiles {
    /// The result of reading a manifest.
    package struct Reading {
        /// `nil` if there is an error among the diagnostics.
        package var manifest: Manifest?
        package var diagnostics: [Diagnostic]
        /// The absolute path of the main file's folder.
        package var directory: String
        /// The absolute path of the main file.
        package var path: String
        /// The names of the drop-ins that were read.
        package var dropInNames: [String] = []
        /// The SHA-256 of the files that were read, also of a wrong manifest; "" if one cannot be read.
        package var digest = ""

        package var dropIns: Int { dropInNames.count }

        /// Whether there is a folder of drop-ins.
        fileprivate var hasDropInFolder = false

        /// The absolute paths of the files that were read, and of the folder of drop-ins, which may be empty.
        private var files: [String] {
            let folder = "\(directory)/tasks.d"
            return [path] + dropInNames.map { "\(folder)/\($0)" }
                + (hasDropInFolder ? [folder] : [])
        }

        /// Why the manifest's files are not trusted: a user who can write them controls the daemon.
        ///
        /// - Returns: `nil` if no user other than root and this process's can change them.
        package func doubt() -> String? {
            do throws(TrustError) {
                for file in files { try PathTrust.check(file) }
                return nil
            } catch {
                return error.description
            }
        }

        package var errors: Int { diagnostics.count { $0.severity == .error } }
        package var warnings: Int { diagnostics.count - errors }

        /// The exit status of a command that requires the manifest.
        package var failureStatus: ExitStatus {
            let isUnreadable = diagnostics.contains {
                $0.code == .unreadable && $0.severity == .error
            }
            return isUnreadable ? .inputMissing : .badManifest
        }
    }

    private static let bytesMax = 1 << 20

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - config: the path of the main file, as the user gave it.
    ///   - unresolvedSecrets: the severity of a secret without a value.
    ///   - allowsUntrustedFiles: whether the programs and the secrets that the manifest names may be files that
    ///     other users could change; only a reader that acts on the manifest needs to know.
    ///   - changes: drop-ins by name that are to be read as if their files had these bytes; `nil` is as
    ///     if the file were not there.
    package static func read(
        _ config: String,
        unresolvedSecrets: Diagnostic.Severity = .error,
        allowsUntrustedFiles: Bool = true,
        changes: [String: [UInt8]?] = [:]
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
            reading.diagnostics = [.unreadable(file: config, reason: error.reasonOfFile)]
            return reading
        }
        var dropIns: [ManifestFile] = []
        for case (let name, let bytes?) in changes {
            dropIns.append(ManifestFile(name: "tasks.d/\(name)", bytes: bytes))
            reading.dropInNames.append(name)
        }
        let names: [String]?
        do throws(SystemError) {
            names = try dropInNames(in: directory + "/tasks.d")
        } catch {
            let isDangling = error.code == ENOENT
            reading.diagnostics = [
                .unreadable(
                    dropIn: "tasks.d",
                    reason: isDangling ? "it is a link that leads nowhere" : error.reason
                )
            ]
            return reading
        }
        reading.hasDropInFolder = names != nil
        for name in names ?? [] where !changes.keys.contains(name) {
            switch file("\(directory)/tasks.d/\(name)", name: "tasks.d/\(name)") {
            case .success(let file):
                dropIns.append(file)
                reading.dropInNames.append(name)
            case .failure(let error):
                // A name that is not UTF-8 is repaired when it is read, and then it names no file.
                let isNamed = error.code != ENOENT || !name.contains("\u{FFFD}")
                reading.diagnostics = [
                    .unreadable(
                        dropIn: "tasks.d/\(name)",
                        reason: isNamed ? error.reasonOfFile : "its name is not UTF-8"
                    )
                ]
                return reading
            }
        }
        let reader = ManifestReader(
            manifestDirectory: directory,
            unresolvedSecrets: unresolvedSecrets,
            resolveSecret: Secrets.resolve,
            fileDoubt: { allowsUntrustedFiles ? nil : doubt(ofFile: $0) },
            zones: InstalledZones.source,
            parameterProblem: { parameters, signature, isComplete in
                ParameterCheck.problem(
                    in: parameters,
                    signature: signature,
                    isComplete: isComplete
                )
            }
        )
        let (manifest, diagnostics) = reader.read(main, dropIns: dropIns)
        reading.manifest = manifest
        reading.digest = digest(of: main, dropIns)
        reading.manifest?.digest = reading.digest
        reading.diagnostics = diagnostics
        return reading
    }

    /// The SHA-256 of the main file and then of the name, the length and the bytes of each drop-in: which
    /// one overrides another depends on their names, and the folder lists them in any order.
    private static func digest(of main: ManifestFile, _ dropIns: [ManifestFile]) -> String {
        let ordered = dropIns.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return LibraryDigest.sha256(
            of: [main.bytes]
                + ordered.flatMap { [Array("\0\($0.name)\0\($0.bytes.count)\0".utf8), $0.bytes] }
        )
    }

    /// The absolute path of the folder of a main file.
    package static func directory(of config: String) -> String {
        parent(of: ControlLocation.normalized(config))
    }

    private static func file(
        _ path: String,
        name: String
    ) -> Result<ManifestFile, SystemError> {
        // Read one byte more than is permitted, so that the parser detects a file that is too long.
        SmallFile.read(path, bytesMax: bytesMax + 1).map { ManifestFile(name: name, bytes: $0) }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func doubt(ofFile path: String) -> String? {
        do throws(TrustError) {
            try PathTrust.check(path, mayBeAbsent: true)
            return nil
        } catch {
            return error.description
        }
    }

    /// The names of the drop-ins; `nil` if there is no such folder.
    ///
    /// - Throws: `SystemError`; with `ENOENT` if the folder is a link that leads nowhere.
    private static func dropInNames(in folder: String) throws(SystemError) -> [String]? {
        do {
            return try FolderNames.of(folder).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
        } catch {
            guard error.code == ENOENT else { throw error }
            var status = stat()
            // The drop-ins behind a link that leads nowhere are not known: their file system may come later.
            guard lstat(folder, &status) != 0 else { throw error }
            return nil
        }
    }
}

extension SystemError {
    /// Why a file could not be read by `SmallFile`, for people.
    fileprivate var reasonOfFile: String {
        code == EINVAL ? "it is a FIFO or a device, not a file" : reason
    }
}

/// The time zones of the system.
package enum InstalledZones {
    private static let system = SystemZones { try ZoneTable(name: $0, tzif: $1) }

    package static let source = ZoneSource(find: system.zone, names: system.names)
}

/// Resolves secrets from the environment and from files.
package enum Secrets {
    private static let bytesMax = 64 << 10

    package static func resolve(_ reference: SecretReference) -> Result<String, SecretError> {
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
        // One byte more, so that a longer secret is not taken for what it begins with.
        switch SmallFile.read(path, bytesMax: bytesMax + 1) {
        case .failure(let error): return .failure(SecretError(error.reasonOfFile))
        case .success(let bytes) where bytes.count > bytesMax:
            return .failure(SecretError("the file has more than \(bytesMax >> 10) KiB"))
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
    /// The manifest; prints the diagnostics and throws if there is none.
    package func require(_ console: Console) throws(CommandFailure) -> Manifest {
        if let manifest { return manifest }
        for diagnostic in diagnostics {
            console.remark(diagnostic.rendered(color: console.error.hasColor))
        }
        throw failure
    }

    /// The error of a command that requires the manifest.
    package var failure: CommandFailure {
        let path = TerminalText.escaped(path)
        guard failureStatus == .badManifest else {
            return CommandFailure(
                failureStatus,
                code: DiagnosticCode.unreadable.rawValue,
                "cannot read the manifest \(path)",
                fix: "name another with --config, or correct its permissions"
            )
        }
        return CommandFailure(
            failureStatus,
            "the manifest \(path) has \(errors) error\(errors == 1 ? "" : "s")",
            fix: "bghost check --config \(path)"
        )
    }
}
