// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostServices
package import BghostLinux
package import BghostModel
internal import BghostPlugin
internal import BghostTrust
internal import BghostWire

/// One inspection of a plugin's files, which runs no code of the plugin.
///
/// It reads and hashes files, so call it on a thread that may block on the disk.
package struct PluginInspection: Sendable {
    package let code: PluginCode
    package let manifest: Manifest
    package let search: LibrarySearch
    package let allowsUntrustedFiles: Bool
    /// The state directory for the plugin's data directory; `nil` to create none.
    package var state: StateDirectory?
    /// Whether to hash the library.
    package var wantsDigest = false
    /// Watches the files from now on; `nil` to watch none.
    package var watch: FileWatch?

    package init(
        code: PluginCode,
        manifest: Manifest,
        search: LibrarySearch,
        allowsUntrustedFiles: Bool,
        state: StateDirectory? = nil,
        wantsDigest: Bool = false,
        watch: FileWatch? = nil
    ) {
        self.code = code
        self.manifest = manifest
        self.search = search
        self.allowsUntrustedFiles = allowsUntrustedFiles
        self.state = state
        self.wantsDigest = wantsDigest
        self.watch = watch
    }

    /// The current state of the files.
    ///
    /// - Parameter needed: the paths of the needed libraries that an earlier inspection found.
    package func snapshot(needed: some Sequence<String>) -> FileSnapshot {
        var snapshot = FileSnapshot()
        switch code {
        case .plugin(let definition):
            // No file: the empty snapshot says so, and the inspection says why.
            if let path = try? search.find(definition.library) {
                snapshot.library = FileIdentity(path: path)
            }
        case .function(let definition) where definition.library.hasPrefix("/"):
            snapshot.library = FileIdentity(path: definition.library)
        case .function: break
        }
        for path in needed { snapshot.needed[path] = FileIdentity(path: path) }
        return snapshot
    }

    /// Watches the files where they are now, and returns their current state.
    ///
    /// - Parameter needed: as for ``snapshot(needed:)``.
    package func watchedSnapshot(
        needed: some Sequence<String>
    ) -> (files: FileSnapshot, isWatched: Bool) {
        // Watch before reading, so that no change in between is missed.
        let isWatched = watch?.watchAgain(code.name) ?? false
        return (snapshot(needed: needed), isWatched)
    }

    /// Inspects the files unless their state equals a known one.
    package func findings(unless known: FileSnapshot?) -> PluginFindings? {
        if let known, snapshot(needed: known.needed.keys) == known { return nil }
        return findings()
    }

    /// Inspects the files.
    package func findings() -> PluginFindings {
        var found = PluginFindings()
        if let state {
            do throws(HostError) {
                found.dataDirectory = try state.dataDirectory(of: code.name)
            } catch {
                found.problem = PluginFindings.Problem(
                    message: error.description,
                    isAboutPlace: true
                )
                return found
            }
        }
        switch code {
        case .plugin(let definition): inspect(definition, &found)
        case .function(let definition): inspect(definition, &found)
        }
        return found
    }

    // MARK: Plugins

    private func inspect(_ definition: PluginDefinition, _ found: inout PluginFindings) {
        // Watch before reading, so that no change in between is missed.
        watch(search.candidates(definition.library), &found)
        do throws(LibrarySearch.NotFound) {
            found.path = try search.find(definition.library)
        } catch {
            found.problem = PluginFindings.Problem(message: error.description, isAboutPlace: true)
        }
        guard let path = found.path else { return }
        found.files.library = FileIdentity(path: path)
        found.problem = unmetRequirement(definition)
        if found.problem == nil { inspect(definition, path, &found) }
        if wantsDigest {
            found.sha256 = found.held?.sha256 ?? LibraryDigest.sha256(path: path) ?? ""
        }
        if found.problem != nil { found.held = nil }
    }

    private func inspect(
        _ definition: PluginDefinition,
        _ path: String,
        _ found: inout PluginFindings
    ) {
        let trust = LibraryTrust(
            definition,
            manifest,
            allowsUntrustedFiles: allowsUntrustedFiles
        )
        do throws(TrustError) {
            try trust.checkPlace(path)
        } catch {
            found.problem = PluginFindings.Problem(message: "\(error)", isAboutPlace: true)
            return
        }
        do {
            let budget = ImageBudget()
            found.held = try trust.hold(path)
            let note = try PluginImage.inspect(path: path, held: found.held, budget: budget)
                .requireLoadable(inDaemon: definition.isolation == .inProcess)
            found.checksParameters = note.checksParameters
            found.libraries = try NeededLibraries(trust, budget).find(path, held: found.held)
            watchFiles(&found)
            try hold(&found, trust)
        } catch let error as NeededLibraries.Untrusted {
            found.problem = PluginFindings.Problem(message: error.message, isAboutPlace: true)
        } catch {
            found.problem = PluginFindings.Problem(message: "\(error)")
        }
    }

    /// Holds the needed libraries, if the trust rules require that.
    private func hold(_ found: inout PluginFindings, _ trust: LibraryTrust) throws(TrustError) {
        var bytes = found.files.library?.sizeBytes ?? 0
        for index in found.libraries.indices {
            let library = found.libraries[index]
            let identity = FileIdentity(path: library.path)
            found.files.needed[library.path] = identity
            bytes = bytes.addingClamped(identity?.sizeBytes ?? 0)
            guard trust.holds(library) else { continue }
            guard bytes <= UInt64(HeldLibrary.bytesMax), index < Int(WorkerDescriptors.needsMax)
            else {
                throw TrustError(
                    "it is pinned, and needs more than \(WorkerDescriptors.needsMax) libraries or"
                        + " \(HeldLibrary.bytesMax >> 20) MiB in all: link them into it"
                )
            }
            found.libraries[index].held = try trust.hold(needed: library)
        }
    }

    private func unmetRequirement(_ definition: PluginDefinition) -> PluginFindings.Problem? {
        let required = definition.require.union(manifest.host.require)
        guard definition.isolation == .inProcess, !required.isEmpty else { return nil }
        let names = SandboxLayer.allCases.filter(required.contains).map(\.rawValue)
        return PluginFindings.Problem(
            message:
                "the manifest requires \(names.joined(separator: ", ")), and there is no sandbox inside"
                + " the daemon; use `\"isolation\": \"worker\"`"
        )
    }

    // MARK: Functions

    /// The loader resolves a bare name in the system's folders, so only absolute paths are inspected.
    private func inspect(_ definition: FunctionDefinition, _ found: inout PluginFindings) {
        let path = definition.library
        guard path.hasPrefix("/"), !NeededLibraries.isSystem(path) else { return }
        watch([path], &found)
        found.files.library = FileIdentity(path: path)
        let trust = LibraryTrust(allowsUntrustedFiles: allowsUntrustedFiles)
        do {
            try trust.checkPlace(path)
            let needed = try NeededLibraries(trust, ImageBudget()).find(path, held: nil)
            found.libraries = needed
            watchFiles(&found)
            for library in needed {
                found.files.needed[library.path] = FileIdentity(path: library.path)
            }
        } catch let error as ImageError {
            found.problem = PluginFindings.Problem(message: error.description)
        } catch {
            found.problem = PluginFindings.Problem(message: "\(error)", isAboutPlace: true)
        }
    }

    // MARK: Watching

    /// Watches all relevant files and stops watching others.
    package func watchFiles(_ found: inout PluginFindings) {
        let needed = found.libraries.map(\.path)
        switch code {
        case .plugin(let definition):
            let signed = definition.signedBy == nil ? [] : needed + (found.path.map { [$0] } ?? [])
            watch(
                search.candidates(definition.library) + needed
                    + signed.map { $0 + MinisignSignature.suffix },
                &found
            )
        case .function(let definition):
            guard definition.library.hasPrefix("/") else { return }
            watch([definition.library] + needed, &found)
        }
    }

    private func watch(_ paths: [String], _ found: inout PluginFindings) {
        guard let watch else {
            found.isWatched = false
            return
        }
        found.isWatched = watch.watch(paths, for: code.name)
    }
}
