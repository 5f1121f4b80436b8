// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import BghostTrust
internal import CBghostSystem
internal import Glibc

/// Checks that run no code of the plugin.
enum FileChecks {
    static let all = [
        Check("file", "the file is a shared object for this machine", level: 1, .file) {
            (stage) throws(Finding) in
            do throws(ImageError) {
                _ = try PluginImage.inspect(path: stage.order.file)
            } catch {
                // The next check reports a damaged note.
                guard case .tornNote = error.problem else { throw Finding(error) }
            }
        },
        Check("note", "its note says which ABI it is built for", level: 1, .file, needs: ["file"]) {
            (stage) throws(Finding) in
            let image = try stage.image()
            do throws(ImageError) {
                _ = try image.requireLoadable()
            } catch {
                switch error.problem {
                case .noNote, .wrongABI: throw Finding(error)
                default: return
                }
            }
        },
        Check(
            "entry",
            "it exports the entry function",
            level: 1,
            .file,
            needs: ["file", "note"]
        ) { (stage) throws(Finding) in
            let image = try stage.image()
            do throws(ImageError) {
                _ = try image.requireLoadable()
            } catch {
                throw Finding(error)
            }
        },
        Check(
            "libraries",
            "no other user can change where it takes its libraries from",
            level: 3,
            .file,
            needs: ["file", "note"],
            body: libraries
        ),
        Check(
            "exports",
            "what it exports is its own",
            level: 4,
            .file,
            needs: ["file", "note"],
            body: exports
        ),
        Check(
            "mapping",
            "nothing speaks against loading it into the daemon",
            level: 5,
            .file,
            needs: ["file", "note"]
        ) { (stage) throws(Finding) in
            let image = try stage.image()
            guard !image.mayHaveGoRuntime else {
                throw Finding.skipped("it has the runtime of Go: the daemon refuses to load it")
            }
            let concerns = image.concerns.filter { $0 != .ownAllocator }
            guard let first = concerns.first else { return }
            throw Finding.warned(
                concerns.map(\.rawValue).joined(separator: "; "),
                fix: advice(first) + "; without that, keep it in a worker"
            )
        },
    ]

    private static func advice(_ concern: PluginImage.Concern) -> String {
        switch concern {
        case .staticTLS: "build all of it with -fPIC and without -ftls-model=initial-exec"
        case .textRelocations: "build all of it, assembly too, with -fPIC"
        case .executableStack:
            "link it with -Wl,-z,noexecstack; the cause is assembly without a"
                + " .note.GNU-stack section, or nested functions"
        // Neither comes here: another check reports the first, and the second is no matter of mapping.
        case .ownAllocator: "do not export malloc"
        case .goRuntime: "keep it in a worker"
        }
    }

    private static func libraries(_ stage: Stage) throws(Finding) {
        // CMake pads a search path with empty folders, which are the current one.
        for folder in try stage.image().folders where folder != "." {
            guard folder.hasPrefix("/") else {
                throw Finding.failed(
                    "it looks for libraries in `\(folder)`, a folder that begins wherever the host is"
                        + " started",
                    fix: "link it without this -rpath, or with -Wl,-rpath,$ORIGIN"
                )
            }
            // A missing folder could be created by any user who may write to its parent.
            guard access(folder, F_OK) == 0 else {
                throw Finding.failed(
                    "it looks for libraries in \(folder), which is not there: a user who can create"
                        + " that folder decides what is loaded",
                    fix: "link it without this -rpath, or with -Wl,-rpath,$ORIGIN"
                )
            }
            do throws(TrustError) {
                try PathTrust.check(folder)
            } catch {
                throw Finding.failed(
                    "it looks for libraries in a folder that others can change: \(error.description)",
                    fix: "link it without this -rpath, or with -Wl,-rpath,$ORIGIN"
                )
            }
        }
    }

    /// The library of this process that defines a name.
    ///
    /// The program's own exports differ from build to build, so they are ignored.
    private static func library(of name: String) -> String? {
        guard let address = dlsym(nil, name), let file = bgs_library_of(address) else { return nil }
        let path = String(cString: file)
        return path.contains(".so") ? path.split(separator: "/").last.map(String.init) : nil
    }

    private static func exports(_ stage: Stage) throws(Finding) {
        let names: [String]
        do throws(ImageError) {
            names = try PluginImage.exportedFunctions(path: stage.order.file)
        } catch {
            throw Finding(error)
        }
        // The loader binds every reference, including the plugin's own calls, to definitions that
        // the process already has.
        let clashes = names.filter { name in
            guard !name.hasPrefix("$s"), !name.hasPrefix("_"), !name.hasPrefix("swift_") else {
                return false
            }
            return library(of: name) != nil
        }.sorted()
        guard let first = clashes.first, let library = library(of: first) else { return }
        let more = clashes.count > 1 ? " and \(clashes.count - 1) more of this kind" : ""
        throw Finding.failed(
            "it exports `\(first)`\(more), a name that \(library) has too, and every process has that"
                + " one: its own calls go there",
            fix: "build it with -fvisibility=hidden, or link it with a version script that exports"
                + " bghost_plugin_v1 alone"
        )
    }
}
