// SPDX-License-Identifier: Apache-2.0

internal import BghostControl
internal import Glibc

/// The installed files of this program.
enum InstalledFiles {
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
    static func worker() throws -> String {
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

    /// The folders in which plugins are searched: those named by the user, those of `BGHOST_PLUGIN_PATH`, the
    /// program's own, and `../lib/bghost`.
    static func pluginPath(_ named: [String]) -> [String] {
        let variable = ControlLocation.variable(of: "BGHOST_PLUGIN_PATH") ?? ""
        return named
            + variable.split(separator: ":").map { ControlLocation.normalized(String($0)) }
            + [folder, folder + "/../lib/bghost"]
    }
}
