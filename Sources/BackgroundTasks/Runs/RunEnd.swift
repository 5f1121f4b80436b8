// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

/// How a handler ended, in the words of the ABI.
struct RunEnd {
    var status: bg_status
    var message = ""
    var payload = Data()
    var retryAfter: Duration = .zero

    private init(_ status: bg_status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Carries out a handler to its end.
    init(of handler: Handler, _ context: TaskContext) async {
        do {
            self.init(BG_OK, "")
            context.beginWake()
            payload = try await handler.body(context) ?? Data()
            if context.usedSessions != nil { await context.endSessions() }
        } catch let error as RetryLater {
            self.init(BG_E_RETRY, error.reason)
            retryAfter = error.after ?? .zero
        } catch is CancellationError where context.stopReason != nil {
            self.init(BG_E_CANCELLED, "")
        } catch URLError.cancelled where context.stopReason != nil {
            self.init(BG_E_CANCELLED, "")
        } catch is CancellationError {
            // To call this cancelled would hide a fault: the host had not asked for it.
            self.init(BG_E_FAILED, "threw CancellationError without having been asked to stop")
        } catch {
            self.init(BG_E_FAILED, String(describing: error))
        }
    }

    /// Whether the status says it all.
    var isPlain: Bool { message.isEmpty && payload.isEmpty && retryAfter == .zero }

    /// Completes the run, with what the host accepts of it.
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
            // A run must not stay open for a text that the host does not take.
            RunEnd(status, "").report(to: context)
        default:
            // BG_OK; or stale or closed, and then somebody else has ended it.
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

    /// One line of at most 1000 characters: descriptions of errors can be pages.
    private static func line(_ message: String) -> String {
        let flat = message.unicodeScalars.prefix(1000).map { scalar in
            scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        return String(flat)
    }
}
