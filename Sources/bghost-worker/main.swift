// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostWire
internal import CBghostSystem

// A worker: one process with one plugin. It ensures that it cannot outlive the daemon, confines
// itself, loads the plugin, and then performs runs until the daemon tells it to finish or is gone.
//
// Everything up to `load` happens on one thread and runs no plugin code.

WorkerProcess.bindToParent()
// Its stdout is a pipe, for which the C library would otherwise buffer whole blocks.
bgs_buffer_lines()
// Install the handlers before plugin code is loaded, which may install its own.
bgs_report_crashes(
    WorkerDescriptors.work,
    FrameKind.report.rawValue,
    FrameLayout.version
)
// A write beyond the file size limit then fails in the handler instead of ending the worker.
FileSizeLimit.fail()
let link = WorkerLink()
let configuration = link.receiveConfiguration()
link.report(WorkerProcess.confine(configuration), configuration)

let runtime = WorkerRuntime(configuration, link: link)
guard runtime.listenForControl() else {
    link.refuse("no-thread", "the worker cannot start a thread; raise the limit of processes")
}
runtime.load()
runtime.serve()
