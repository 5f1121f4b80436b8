// SPDX-License-Identifier: Apache-2.0

package import CBghost
internal import Glibc

/// Why a plugin is not used, for its author and its operator.
package struct PluginRefusal: Error, Equatable, Sendable {
    /// A stable code.
    package let code: String
    /// What failed, where, why, and what to do.
    package let message: String

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// Loads plugins.
///
/// It inspects a file first and maps it only if it would be accepted, because its constructors run
/// before any of its functions can be called.
package enum PluginLoader {
    package typealias Entry =
        @convention(c) (UnsafePointer<bg_host>?) -> UnsafePointer<bg_plugin>?

    /// A plugin's library in this process, of which only the constructors have run.
    package struct Mapped {
        let path: String
        let note: PluginNote
        package let entry: Entry

        /// Calls the entry function and checks the table that it returns.
        ///
        /// - Parameter host: must live as long as the process.
        package func descriptor(
            for host: UnsafePointer<bg_host>
        ) throws(PluginRefusal) -> PluginDescriptor {
            try PluginLoader.descriptor(of: UnsafeRawPointer(entry(host)), note: note, in: path)
        }
    }

    /// Checks the table of a plugin that is compiled into this program.
    ///
    /// - Parameters:
    ///   - table: what the plugin's entry function returned.
    ///   - name: what messages call the plugin.
    package static func descriptor(
        of table: UnsafeRawPointer?,
        in name: String
    ) throws(PluginRefusal) -> PluginDescriptor {
        // A plugin that is no file has no note to agree with.
        let note = PluginNote(
            abiMajor: UInt16(BG_ABI_MAJOR),
            abiMinor: UInt16(BG_ABI_MINOR),
            id: ""
        )
        return try descriptor(of: table, note: note, in: name)
    }

    fileprivate static func descriptor(
        of table: UnsafeRawPointer?,
        note: PluginNote,
        in name: String
    ) throws(PluginRefusal) -> PluginDescriptor {
        do throws(DescriptorError) {
            return try PluginDescriptor.read(table, note: note)
        } catch {
            throw PluginRefusal(code: error.code, message: "\(name): \(error.description)")
        }
    }

    /// Maps a plugin's library if the file is acceptable.
    ///
    /// The library stays mapped as long as the process lives: a library with Swift code cannot be
    /// unloaded, and one of its threads may outlive the plugin's close().
    ///
    /// - Parameters:
    ///   - held: a descriptor of the library; `nil` to read the file at the path.
    ///   - heldNeeds: descriptors of the libraries that it needs, each after those that it needs
    ///     itself. The loader then uses them for the names in the plugin and searches for no file.
    ///   - inDaemon: whether this process is the daemon, which refuses some plugins.
    package static func map(
        path: String,
        held: Int32? = nil,
        heldNeeds: [Int32] = [],
        inDaemon: Bool = false
    ) throws(PluginRefusal) -> Mapped {
        let note: PluginNote
        do throws(ImageError) {
            let image =
                if let held {
                    try PluginImage.inspect(descriptor: held, path: path)
                } else {
                    try PluginImage.inspect(path: path)
                }
            note = try image.requireLoadable(inDaemon: inDaemon)
        } catch {
            throw PluginRefusal(code: error.code, message: error.description)
        }
        for library in heldNeeds {
            guard dlopen("/proc/self/fd/\(library)", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nil
            else {
                throw PluginRefusal(code: "dlopen", message: loaderMessage("a library of \(path)"))
            }
        }
        let place = held.map { "/proc/self/fd/\($0)" } ?? path
        guard let handle = dlopen(place, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw PluginRefusal(code: "dlopen", message: loaderMessage(path))
        }
        guard let symbol = dlsym(handle, BG_ENTRY_NAME) else {
            throw PluginRefusal(
                code: "no-entry",
                message: "\(path): \(BG_ENTRY_NAME) is not exported"
            )
        }
        return Mapped(path: path, note: note, entry: unsafeBitCast(symbol, to: Entry.self))
    }

    private static func loaderMessage(_ path: String) -> String {
        let reason = dlerror().map { String(cString: $0) } ?? "it cannot be loaded"
        guard
            reason.contains("libswift") || reason.contains("lib_")
                || reason.contains("libFoundation")
        else { return "\(path): \(reason). `ldd -r` shows all that it needs and does not find" }
        return "\(path): \(reason); it needs the Swift runtime of its compiler: link it with"
            + " -static-stdlib, or install that runtime"
    }
}
