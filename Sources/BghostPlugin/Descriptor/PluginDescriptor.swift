// SPDX-License-Identifier: Apache-2.0

package import CBghost

/// A plugin's table: every field checked and copied.
///
/// Only the function pointers still point into the plugin. They stay valid, since a plugin is never
/// unloaded. `bghost.h` states for each function when and on which thread it may be called.
package struct PluginDescriptor: Sendable {
    typealias Open =
        @Sendable @convention(c) (
            UnsafePointer<bg_host>?, bg_str, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> bg_status
    typealias Drain = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Close = Drain
    typealias Start =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<bg_run_info>?
        ) -> bg_status
    package typealias Cancel =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, bg_run, UnsafeMutableRawPointer?, UInt32
        ) -> Void
    typealias Release =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, bg_run, UnsafeMutableRawPointer?
        ) -> Void

    package var id: String
    package var version: String
    package var vendor: String
    /// The lowest minor version of the host that it requires.
    var hostMinorMin: UInt16
    /// At least one; the names are unique.
    package var handlers: [Handler]
    var open: Open?
    var drain: Drain?
    var close: Close?

    /// One handler.
    package struct Handler: Sendable {
        package var name: String
        /// A JSON Schema for the parameters, or ""; it has not been checked yet.
        package var parametersSchema: String
        package var flags: Flags
        var start: Start
        package var cancel: Cancel?
        var release: Release?
        /// The address of the handler's entry in the plugin's own table.
        ///
        /// The host passes it to runs and never dereferences it.
        package var address: UInt
    }

    /// The flags of a handler, without the bits that a host may ignore.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let mayBlock = Flags(rawValue: BG_TASK_MAY_BLOCK)
        package static let serial = Flags(rawValue: BG_TASK_SERIAL)
        static let needsWorker = Flags(rawValue: BG_TASK_NEEDS_WORKER)
        static let known: Flags = [.mayBlock, .serial, .needsWorker]
    }

    static let handlersMax = 256
    static let tableBytesMax = 64 << 10
    static let idBytesMax = 128
    static let versionBytesMax = 64
    static let vendorBytesMax = 256
    static let nameBytesMax = 128
    static let schemaBytesMax = 64 << 10

    /// Finds a handler by its name in `tasks.json`.
    func handler(named name: String) -> Handler? { handlers.first { $0.name == name } }

    /// Checks and copies the table that an entry function returned.
    ///
    /// For any pointer, it neither faults nor reads beyond the sizes that the table states.
    ///
    /// - Parameter note: the note of the same plugin; the table must agree with it.
    static func read(
        _ pointer: UnsafeRawPointer?,
        note: PluginNote
    ) throws(DescriptorError) -> PluginDescriptor {
        guard let pointer else { throw DescriptorError(note.id, .cannotRunHere) }
        let reader = try DescriptorReader(note: note)
        return try reader.plugin(pointer)
    }
}
