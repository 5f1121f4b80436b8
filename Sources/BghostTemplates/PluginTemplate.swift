// SPDX-License-Identifier: Apache-2.0

internal import CBghostTemplates

/// The files of a new plugin in one language.
package enum PluginTemplate: String, CaseIterable, Sendable {
    case swift
    case c
    case cpp
    case rust
    case go
    /// An app for iOS, in Swift.
    case ios

    /// The language's name for people.
    package var language: String {
        switch self {
        case .swift: "Swift"
        case .c: "C"
        case .cpp: "C++"
        case .rust: "Rust"
        case .go: "Go"
        case .ios: "Swift, as an app for iOS"
        }
    }

    /// Whether the build of the plugin reads the SDK's folder.
    package var needsSDK: Bool { self != .rust }

    /// The command that builds the plugin, in its folder.
    package func build(_ name: PluginName) -> String {
        switch self {
        case .swift, .ios: "swift build -c release --static-swift-stdlib"
        case .c, .cpp: "make"
        case .rust: "cargo build --release"
        case .go: "go build -buildmode=c-shared -o \(library(name)) ."
        }
    }

    /// The path of the library that `build` makes, relative to the plugin's folder.
    package func library(_ name: PluginName) -> String {
        switch self {
        case .swift, .ios: ".build/release/lib\(name.module).so"
        case .c, .cpp, .go: "lib\(name.hyphenated).so"
        case .rust: "target/release/lib\(name.underscored).so"
        }
    }

    /// What runs the handler once, in the plugin's folder.
    ///
    /// An app has more handlers than its background task, so that one is named.
    package func run(_ name: PluginName) -> String {
        let command = "bghost plugin run \(library(name))"
        return self == .ios ? "\(command) org.example.\(name.hyphenated).primes" : command
    }

    /// Fills in the files.
    ///
    /// - Parameters:
    ///   - sdk: the absolute path of the SDK's folder.
    ///   - schema: the absolute path of the manifest's schema; `nil` leaves the key `$schema` out.
    /// - Returns: the files, sorted by path.
    package func files(_ name: PluginName, sdk: String, schema: String?) -> [TemplateFile] {
        Self.embedded.compactMap { path, text in
            guard path.hasPrefix(rawValue + "/") else { return nil }
            var text = text
            if schema == nil {
                text = text.split(separator: "\n", omittingEmptySubsequences: false)
                    .filter { !$0.contains("\"$schema\"") }.joined(separator: "\n")
            }
            text.replace(Self.schema, with: schema ?? "")
            text.replace(Self.sdk, with: sdk)
            let place = Self.named(String(path.dropFirst(rawValue.count + 1)), name)
            return TemplateFile(
                path: place,
                text: Self.named(text, name),
                isExecutable: place.hasSuffix(".sh")
            )
        }.sorted { $0.path < $1.path }
    }

    // What stands in the templates for the SDK and the schema.
    private static let sdk = "/bghost/SDK"
    private static let schema = "/bghost/tasks.schema.json"

    /// Puts the name in place of the template's.
    private static func named(_ text: String, _ name: PluginName) -> String {
        // Of the app, which is another module in bghost's own build.
        text.replacing("TemplateNameIOS", with: name.module)
            .replacing("TemplateName", with: name.module)
            .replacing("template-name", with: name.hyphenated)
            .replacing("template_name", with: name.underscored)
            // With their own names, they would have an effect on the templates themselves.
            .replacing("gitignore.txt", with: ".gitignore")
            .replacing("swift-format.json", with: ".swift-format")
    }

    /// The files of Templates/, by path.
    package static let embedded: [(path: String, text: String)] = {
        var files: [(path: String, text: String)] = []
        while let file = bg_template_file_at(files.count)?.pointee {
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
            files.append((String(cString: file.path), String(decoding: bytes, as: UTF8.self)))
        }
        return files
    }()
}

/// A file of a new plugin.
package struct TemplateFile: Equatable, Sendable {
    /// Relative to the plugin's folder.
    package let path: String
    package let text: String
    package let isExecutable: Bool
}
