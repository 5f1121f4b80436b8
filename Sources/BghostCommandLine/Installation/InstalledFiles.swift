// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostControl
internal import Glibc

/// The installed files of this program.
package enum InstalledFiles {
    /// The folder of the program, from the kernel: independent of `PATH` and of symbolic links.
    private static var folder: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map {
                readlink("/proc/self/exe", $0.assumingMemoryBound(to: CChar.self), bytes.count)
            } ?? -1
        }
        guard count > 0 else { return "." }
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The worker program: beside this program, or in `../libexec/bghost`.
    package static func worker() throws -> String {
        let candidates = [
            folder + "/bghost-worker", folder + "/../libexec/bghost/bghost-worker",
        ]
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw CommandFailure(
                .internalError,
                "the program bghost-worker is missing; looked for "
                    + candidates.joined(separator: " and "),
                fix: "install it beside bghost"
            )
        }
        return found
    }

    /// The absolute path of the SDK: that of `BGHOST_SDK`, an installed one, or that of the checkout in which this program was built.
    package static func sdk() throws(CommandFailure) -> String {
        if let named = ControlLocation.variable(of: "BGHOST_SDK") {
            let path = ControlLocation.normalized(named)
            guard isSDK(path) else {
                throw CommandFailure(
                    .inputMissing,
                    "BGHOST_SDK is \(TerminalText.escaped(named)), which is not the SDK of bghost",
                    fix: "unset it, or name the folder that has the SDK's Package.swift"
                )
            }
            return real(path)
        }
        let installed = ["/../share/bghost/sdk", "/../share/bghost-dev/sdk"].map { folder + $0 }
        guard let found = (installed + checkouts.map { $0 + "/SDK" }).first(where: isSDK) else {
            throw CommandFailure(
                .inputMissing,
                "the SDK is not installed; looked for " + installed.joined(separator: " and "),
                fix: "install the package bghost-dev, or set BGHOST_SDK to the folder"
            )
        }
        return real(found)
    }

    /// The absolute path of the JSON schema of manifests; `nil` if it is not installed.
    package static func manifestSchema() -> String? {
        let places =
            [folder + "/../share/bghost/tasks.schema.json"]
            + checkouts.map { $0 + "/Config/tasks.schema.json" }
        return places.first { access($0, R_OK) == 0 }.map(real)
    }

    /// The path without `..` and links.
    private static func real(_ path: String) -> String {
        guard let text = realpath(path, nil) else { return path }
        defer { free(text) }
        return String(cString: text)
    }

    private static func isSDK(_ path: String) -> Bool {
        access(path + "/Package.swift", R_OK) == 0
            && access(path + "/" + headers + "/bghost.h", R_OK) == 0
    }

    /// The folder of `bghost.h` in the SDK.
    package static let headers = "Sources/CBghost/include"

    /// The folders that may be the checkout: a build lies in `.build/TRIPLE/CONFIGURATION` or, by a link, in
    /// `.build/CONFIGURATION`.
    private static var checkouts: [String] {
        var path = folder[...]
        var found: [String] = []
        while let slash = path.lastIndex(of: "/"), found.count < 4 {
            path = path[..<slash]
            if path.hasSuffix("/.build") { found.append(String(path.dropLast("/.build".count))) }
        }
        return found
    }

    /// The folders in which plugins are searched: those named by the user, those of `BGHOST_PLUGIN_PATH`, the
    /// program's own, and `../lib/bghost`.
    package static func pluginPath(_ named: [String]) -> [String] {
        let variable = ControlLocation.variable(of: "BGHOST_PLUGIN_PATH") ?? ""
        return named
            + variable.split(separator: ":").map { ControlLocation.normalized(String($0)) }
            + [folder, folder + "/../lib/bghost"]
    }
}
