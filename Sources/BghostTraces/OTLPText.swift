// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Writes spans as the JSON of OTLP/HTTP 1.x: an `ExportTraceServiceRequest`.
///
/// Ids are hexadecimal and 64-bit numbers are strings, as the specification has it for JSON.
package struct OTLPText: Sendable {
    /// The name and the version of the program, and the name of its machine.
    private let version: String
    private let host: String

    /// The most bytes of a text of an attribute; what a plugin writes may be long.
    private static let textBytesMax = 1024

    package init(version: String, host: String) {
        self.version = version
        self.host = host
    }

    package func bytes(of spans: [Span]) -> [UInt8] {
        var writer = JSONWriter(reservingBytes: spans.count * 768)
        writer.object { writer in
            writer.member("resourceSpans") { writer in
                writer.array { writer in
                    writer.object { writer in write(spans, &writer) }
                }
            }
        }
        return writer.bytes
    }

    private func write(_ spans: [Span], _ writer: inout JSONWriter) {
        writer.member("resource") { writer in
            writer.object { writer in
                Self.write(
                    [
                        Span.Attribute("service.name", .text("bghost")),
                        Span.Attribute("service.version", .text(version)),
                        Span.Attribute("host.name", .text(host)),
                    ],
                    &writer
                )
            }
        }
        writer.member("scopeSpans") { writer in
            writer.array { writer in
                writer.object { writer in
                    writer.member("scope") { writer in
                        writer.object { writer in
                            writer.member("name", "bghost")
                            writer.member("version", version)
                        }
                    }
                    writer.member("spans") { writer in
                        writer.array { writer in for span in spans { Self.write(span, &writer) } }
                    }
                }
            }
        }
    }

    private static func write(_ span: Span, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("traceId", span.context.traceID)
            writer.member("spanId", span.context.spanID)
            if !span.context.state.isEmpty { writer.member("traceState", span.context.state) }
            if span.parent != 0 { writer.member("parentSpanId", TraceContext.hex(span.parent)) }
            // The lower eight bits are the flags of the trace.
            writer.member("flags", Int64(span.context.flags))
            writer.member("name", cut(span.name))
            writer.member("kind", Int64(span.kind.rawValue))
            writer.member("startTimeUnixNano", String(max(0, span.start)))
            writer.member("endTimeUnixNano", String(max(0, span.end)))
            write(span.attributes, &writer)
            guard let error = span.error else { return }
            writer.member("status") { writer in
                writer.object { writer in
                    writer.member("message", cut(error))
                    // STATUS_CODE_ERROR
                    writer.member("code", Int64(2))
                }
            }
        }
    }

    private static func write(_ attributes: [Span.Attribute], _ writer: inout JSONWriter) {
        writer.member("attributes") { writer in
            writer.array { writer in
                for attribute in attributes {
                    writer.object { writer in
                        writer.member("key", attribute.key)
                        writer.member("value") { writer in
                            writer.object { writer in
                                switch attribute.value {
                                case .text(let text): writer.member("stringValue", cut(text))
                                case .number(let number):
                                    writer.member("intValue", String(number))
                                case .flag(let flag): writer.member("boolValue", flag)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func cut(_ text: String) -> String { text.shortened(toBytes: textBytesMax) }
}
