// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux

/// Finds the command that builds a plugin's folder.
///
/// The folder says by the file of its build tool which one it is. The commands are those of the templates of
/// `bghost plugin new`.
enum BuildCommand {
    /// The build tools' files with their commands for a shell.
    ///
    /// The first that is there counts: a Makefile beside the file of a language may do anything.
    private static let commands = [
        ("Package.swift", "swift build -c release --static-swift-stdlib"),
        ("Cargo.toml", "cargo build --release"),
        ("go.mod", #"go build -buildmode=c-shared -o "lib$(basename "$(go list -m)").so" ."#),
        ("GNUmakefile", "make"), ("makefile", "make"), ("Makefile", "make"),
    ]

    /// A command for the shell, to be run in the folder; `nil` if the folder has no known build tool.
    static func find(in folder: String) -> String? {
        commands.first { file, _ in
            // A file that cannot be looked at is none that a build tool could read.
            (try? FileFacts(of: folder + "/" + file, followsLinks: true))?.kind == .file
        }?.1
    }
}
