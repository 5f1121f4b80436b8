// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Glibc

/// Why a plugin is not used, for its author and its operator.
package struct PluginRefusal: Error, Equatable, Sendable {
    /// A stable word.
    package let code: String
    /// What, where, why and what to do.
    package let message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// Loading a plugin: the file is described first, and only what would be accepted is mapped, because
/// its constructors run before anything of it can be asked.
enum PluginLoader {
    /// Loads a plugin and checks its table.
    ///
    /// It stays mapped as long as the process lives: a library that holds Swift cannot be unloaded,
    /// and a thread of it may outlive every close.
    ///
    /// - Parameter host: the table that its entry function is given; it lives as long as the process.
    static func load(
        path: String,
        host: UnsafePointer<bg_host>
    ) throws(PluginRefusal) -> PluginDescriptor {
        let note: PluginNote
        do throws(ImageError) {
            note = try PluginImage.inspect(path: path).requireLoadable()
        } catch {
            throw PluginRefusal(code: error.code, message: error.description)
        }
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw PluginRefusal(code: "dlopen", message: loaderMessage(path))
        }
        guard let symbol = dlsym(handle, BG_ENTRY_NAME) else {
            throw PluginRefusal(
                code: "no-entry",
                message: "\(path): \(BG_ENTRY_NAME) is not exported"
            )
        }
        typealias Entry = @convention(c) (UnsafePointer<bg_host>?) -> UnsafePointer<bg_plugin>?
        let entry = unsafeBitCast(symbol, to: Entry.self)
        do throws(DescriptorError) {
            return try PluginDescriptor.read(UnsafeRawPointer(entry(host)), note: note)
        } catch {
            throw PluginRefusal(code: error.code, message: "\(path): \(error.description)")
        }
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
