// SPDX-License-Identifier: Apache-2.0

/// A file, or the rest of one, with the bytes before and after it in a message.
struct UploadBody: Sendable {
    var prefix: [UInt8] = []
    let file: UploadFile
    /// The offset in the file of the first byte to send.
    var from = 0
    var suffix: [UInt8] = []
    /// Counts the bytes handed to the connection.
    var meter: TransferMeter?
    /// Told of the bytes handed to the connection, if the file was hashed before.
    var hashed: (@Sendable (_ bytes: Int) -> Void)?

    /// The length of the whole body, bytes.
    var length: Int { prefix.count + file.size - from + suffix.count }
}
