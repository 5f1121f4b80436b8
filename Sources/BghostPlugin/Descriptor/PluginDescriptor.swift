// SPDX-License-Identifier: Apache-2.0

package import CBghost

/// What a plugin offers: its table, checked in every field and copied.
///
/// Nothing in it points into the plugin but the functions, which stay valid because a plugin is never
/// unloaded. When and on which thread they may be called is written beside each in `bghost.h`.
package struct PluginDescriptor: Sendable {
    package typealias Open =
        @Sendable @convention(c) (
            UnsafePointer<bg_host>?, bg_str, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> bg_status
    package typealias Drain = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
    package typealias Close = Drain
    package typealias Start =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<bg_run_info>?
        ) -> bg_status
    package typealias Cancel =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, bg_run, UnsafeMutableRawPointer?, UInt32
        ) -> Void
    package typealias Release =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer?, bg_run, UnsafeMutableRawPointer?
        ) -> Void

    package var id: String
    package var version: String
    package var vendor: String
    /// The oldest host minor that it can live with.
    package var hostMinorMin: UInt16
    /// At least one, each with a name of its own.
    package var handlers: [Handler]
    package var open: Open?
    package var drain: Drain?
    package var close: Close?

    /// One handler.
    package struct Handler: Sendable {
        package var name: String
        /// A JSON Schema for the parameters, or "", that nobody has looked at yet.
        package var parametersSchema: String
        package var flags: Flags
        package var start: Start
        package var cancel: Cancel?
        package var release: Release?
        /// Where the plugin's own table has it.
        ///
        /// Never followed: it is what runs are told.
        package var address: UInt
    }

    /// What is said of a handler; bits that may be ignored are left out.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let mayBlock = Flags(rawValue: BG_TASK_MAY_BLOCK)
        package static let serial = Flags(rawValue: BG_TASK_SERIAL)
        package static let needsWorker = Flags(rawValue: BG_TASK_NEEDS_WORKER)
        static let known: Flags = [.mayBlock, .serial, .needsWorker]
    }

    package static let handlersMax = 256
    static let tableBytesMax = 64 << 10
    static let idBytesMax = 128
    static let versionBytesMax = 64
    static let vendorBytesMax = 256
    static let nameBytesMax = 128
    static let schemaBytesMax = 64 << 10

    /// Finds a handler by the name that `tasks.json` uses.
    package func handler(named name: String) -> Handler? { handlers.first { $0.name == name } }

    /// Checks and copies the table that an entry function returned.
    ///
    /// Whatever the pointer is, this neither faults nor reads beyond what the table says is its own.
    ///
    /// - Parameter note: of the same plugin; the table must agree with it.
    package static func read(
        _ pointer: UnsafeRawPointer?,
        note: PluginNote
    ) throws(DescriptorError) -> PluginDescriptor {
        guard let pointer else { throw DescriptorError(note.id, .cannotRunHere) }
        let reader = try DescriptorReader(note: note)
        return try reader.plugin(pointer)
    }
}
