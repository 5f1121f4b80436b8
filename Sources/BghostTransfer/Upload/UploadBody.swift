// SPDX-License-Identifier: Apache-2.0

/// A file, or the rest of one, with what stands around it in a message.
struct UploadBody: Sendable {
    var prefix: [UInt8] = []
    let file: UploadFile
    /// Where in the file it begins.
    var from = 0
    var suffix: [UInt8] = []
    /// Counts what has been handed to the connection.
    var meter: TransferMeter?

    /// How many bytes it has.
    var length: Int { prefix.count + file.size - from + suffix.count }
}
