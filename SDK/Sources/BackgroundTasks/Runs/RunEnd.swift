// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// The outcome of a handler, in terms of the ABI.
struct RunEnd {
    var status: bg_status
    var message = ""
    var payload = Data()
    var retryAfter: Duration = .zero
    /// The name of the type of the error; "" without one.
    var errorType = ""
    /// Where the error was made.
    var place: SourcePlace?

    private init(_ status: bg_status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Runs a handler to its end.
    init(of handler: Handler, _ context: TaskContext) async {
        do {
            self.init(BG_OK, "")
            context.beginSessions(holdsDeliveries: handler.holdsDeliveries)
            do {
                payload = try await handler.body(context) ?? Data()
            } catch {
                // The host tells the next run of the same ends, but delegates must not be called without
                // a run.
                context.usedSessions?.release()
                await context.usedSessions?.drain()
                throw error
            }
            if context.usedSessions != nil { await context.endSessions() }
        } catch {
            self.init(thrown: error, isCancelled: context.stopReason != nil)
        }
    }

    /// The end of a run that threw.
    private init(thrown: any Error, isCancelled: Bool) {
        let failure = thrown as? TaskFailure
        let error = failure?.underlying ?? thrown
        switch error {
        case let error as RetryLater:
            self.init(BG_E_RETRY, error.reason)
            retryAfter = error.after ?? .zero
        case let error as PermanentFailure: self.init(BG_E_FINAL, error.reason)
        case is CancellationError where isCancelled: self.init(BG_E_CANCELLED, "")
        case let error as any CancelledWork where error.isCancellation && isCancelled:
            self.init(BG_E_CANCELLED, "")
        case is CancellationError:
            // The host had not cancelled the run, so reporting it as cancelled would hide a fault.
            self.init(BG_E_FAILED, "threw CancellationError without having been asked to stop")
        default: self.init(BG_E_FAILED, String(describing: error))
        }
        guard status != BG_E_CANCELLED else { return }
        errorType = Self.name(of: type(of: error))
        place = (error as? any LocatedError)?.place ?? failure?.place
    }

    /// The name of a type with its module.
    ///
    /// A type that is private or local has a part before its name that differs between builds.
    private static func name(of type: any Error.Type) -> String {
        let name = String(reflecting: type)
        guard name.contains("(unknown context at ") else { return name }
        return name.split(separator: ".").filter { !$0.hasPrefix("(unknown context") }
            .joined(separator: ".")
    }

    /// Whether the outcome consists only of the status.
    var isPlain: Bool {
        message.isEmpty && payload.isEmpty && retryAfter == .zero && errorType.isEmpty
    }

    /// Completes the run, without the parts of the outcome that the host rejects.
    func report(to context: TaskContext) {
        if !errorType.isEmpty { describeError(to: context) }
        switch send(to: context) {
        case BG_E_LIMIT where !payload.isEmpty:
            RunEnd(
                BG_E_FAILED,
                "the result has \(payload.count) bytes of JSON and may have "
                    + "\(context.resultBytesMax): return less, or leave it in dataDirectory"
            ).report(to: context)
        case BG_E_ARG where !payload.isEmpty:
            RunEnd(BG_E_FAILED, "the host refused the result as JSON").report(to: context)
        case BG_E_ARG where !message.isEmpty, BG_E_LIMIT where !message.isEmpty:
            // Omit a text that the host rejects, since the run would otherwise not end.
            RunEnd(status, "").report(to: context)
        default:
            // BG_OK; or stale or closed, which means that the run has already ended.
            break
        }
    }

    /// Says what the run fails with, before it does.
    private func describeError(to context: TaskContext) {
        let table = context.host.extension(BG_EXT_RUN, as: bg_runs.self)
        guard let describe = table?.error else { return }
        errorType.withBgStr { type in
            (place?.fileID ?? "").withBgStr { file in
                var error = bg_run_error(
                    size: UInt32(MemoryLayout<bg_run_error>.size),
                    line: UInt32(clamping: place?.line ?? 0),
                    type_name: type,
                    file: file
                )
                // The outcome of the run does not depend on it.
                _ = describe(context.host.pointer, context.run, &error)
            }
        }
    }

    private func send(to context: TaskContext) -> bg_status {
        Self.line(message).withBgStr { message in
            payload.withUnsafeBytes { payload in
                var result = bg_result(
                    size: UInt32(MemoryLayout<bg_result>.size),
                    status: status,
                    message: message,
                    payload: bg_str(payload),
                    retry_after_ms: retryAfter.wholeMilliseconds
                )
                return context.host.complete(context.run, &result)
            }
        }
    }

    /// One line of at most 1000 characters: descriptions of errors can be very long.
    private static func line(_ message: String) -> String {
        let flat = message.unicodeScalars.prefix(1000).map { scalar in
            scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        return String(flat)
    }
}
