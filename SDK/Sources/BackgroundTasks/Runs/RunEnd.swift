// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// The outcome of a handler, in terms of the ABI.
struct RunEnd {
    var status: bg_status
    var message = ""
    var payload = Data()
    var retryAfter: Duration = .zero

    private init(_ status: bg_status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Runs a handler to its end.
    init(of handler: Handler, _ context: TaskContext) async {
        do {
            self.init(BG_OK, "")
            context.beginSessions()
            do {
                payload = try await handler.body(context) ?? Data()
            } catch {
                // The host tells the next run of the same ends, but delegates must not be called without
                // a run.
                await context.usedSessions?.drain()
                throw error
            }
            if context.usedSessions != nil { await context.endSessions() }
        } catch let error as RetryLater {
            self.init(BG_E_RETRY, error.reason)
            retryAfter = error.after ?? .zero
        } catch let error as PermanentFailure {
            self.init(BG_E_FINAL, error.reason)
        } catch is CancellationError where context.stopReason != nil {
            self.init(BG_E_CANCELLED, "")
        } catch let error as any CancelledWork
            where error.isCancellation && context.stopReason != nil
        {
            self.init(BG_E_CANCELLED, "")
        } catch is CancellationError {
            // The host had not cancelled the run, so reporting it as cancelled would hide a fault.
            self.init(BG_E_FAILED, "threw CancellationError without having been asked to stop")
        } catch {
            self.init(BG_E_FAILED, String(describing: error))
        }
    }

    /// Whether the outcome consists only of the status.
    var isPlain: Bool { message.isEmpty && payload.isEmpty && retryAfter == .zero }

    /// Completes the run, without the parts of the outcome that the host rejects.
    func report(to context: TaskContext) {
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
