// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// The identifiers of a run outside its process.
public struct RunIdentity: Sendable, Hashable {
    /// The run's id as `bghost show` prints it, 26 letters and digits.
    public let runID: String
    /// The same for all attempts at one request, so that a server can recognize a repetition.
    public let idempotencyKey: String
    /// A fencing token: each later run of the daemon has a greater one, so that a server can refuse
    /// the actions of a run that has been replaced.
    public let epoch: UInt64

    init?(of run: bg_run, on host: Host) {
        guard let table = host.extension(BG_EXT_RUN, as: bg_runs.self),
            let ask = table.identity
        else { return nil }
        var identity = bg_run_identity()
        identity.size = UInt32(MemoryLayout<bg_run_identity>.size)
        guard ask(host.pointer, run, &identity) == BG_OK else { return nil }
        runID = Self.text(&identity.run_id)
        idempotencyKey = Self.text(&identity.idempotency_key)
        epoch = identity.epoch
    }

    /// The text in a C array, up to its first NUL.
    static func text<Characters>(_ place: inout Characters) -> String {
        withUnsafeBytes(of: &place) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
