// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Glibc

/// A line that a checking process sends to its parent: a letter and a text.
///
/// The plugin runs in that process, so the parent trusts none of these lines except the verdict.
enum CheckLine: Equatable {
    /// The current phase: the last one before the process dies shows where it died.
    case phase(String)
    /// A signal from a memory access, in the named region or "".
    case fault(signal: Int32, region: String)
    case plugin(CheckedPlugin)
    /// The final result.
    case verdict(Finding?)

    static let bytesMax = 256 << 10

    var text: String {
        switch self {
        case .phase(let text):
            return "P" + Self.line { $0.value(text) }
        case .fault(let signal, let region):
            return "F\(signal) \(region)"
        case .plugin(let plugin):
            return "H"
                + Self.line { writer in
                    writer.object { writer in
                        writer.member("id", plugin.id)
                        writer.member("version", plugin.version)
                        writer.member("handlers") { writer in
                            writer.array { writer in
                                for handler in plugin.handlers {
                                    writer.object { writer in
                                        writer.member("name", handler.name)
                                        writer.member("serial", handler.isSerial)
                                    }
                                }
                            }
                        }
                    }
                }
        case .verdict(let finding):
            return "V"
                + Self.line { writer in
                    writer.object { writer in
                        writer.member("verdict", (finding?.verdict ?? .passed).rawValue)
                        writer.member("message", finding?.message ?? "")
                        writer.member("fix", finding?.fix ?? "")
                    }
                }
        }
    }

    private static func line(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return writer.text
    }

    /// Parses a line; `nil` if it is invalid.
    init?(_ line: ArraySlice<UInt8>) {
        guard let letter = line.first else { return nil }
        let rest = Array(line.dropFirst())
        if letter == UInt8(ascii: "F") {
            let words = String(decoding: rest, as: UTF8.self).split(separator: " ", maxSplits: 1)
            guard let signal = words.first.flatMap({ Int32($0) }) else { return nil }
            self = .fault(signal: signal, region: words.count > 1 ? String(words[1]) : "")
            return
        }
        // The plugin may have written the line; an invalid line is not a finding.
        guard let node = try? JSONReader.parse(rest, dialect: .strict) else { return nil }
        switch letter {
        case UInt8(ascii: "P"):
            guard let text = node.string else { return nil }
            self = .phase(text)
        case UInt8(ascii: "H"):
            guard let plugin = CheckedPlugin(node) else { return nil }
            self = .plugin(plugin)
        case UInt8(ascii: "V"):
            guard let verdict = node["verdict"]?.string.flatMap(Verdict.init(rawValue:)),
                let message = node["message"]?.string, let fix = node["fix"]?.string
            else { return nil }
            self = .verdict(
                verdict == .passed ? nil : Finding(verdict: verdict, message: message, fix: fix)
            )
        default: return nil
        }
    }
}

extension CheckedPlugin {
    fileprivate init?(_ node: JSONNode) {
        guard let id = node["id"]?.string, let version = node["version"]?.string,
            let array = node["handlers"]?.array, array.count <= 256
        else { return nil }
        let handlers = array.compactMap { node -> Handler? in
            guard let name = node["name"]?.string, let serial = node["serial"]?.bool else {
                return nil
            }
            return Handler(name: name, isSerial: serial)
        }
        self.init(id: id, version: version, handlers: handlers)
    }
}
