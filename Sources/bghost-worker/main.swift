// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostWire

// A worker: one process, one plugin. It makes sure that it cannot outlive the daemon, confines itself,
// loads the plugin, and then carries runs to it until it is told to finish or the daemon is gone.
//
// Everything up to `load` happens on one thread and runs no foreign code.

WorkerProcess.bindToParent()
// A file that would be too large is the handler's own trouble, and not the end of its worker.
FileSizeLimit.fail()
let link = WorkerLink()
let configuration = link.receiveConfiguration()
link.report(WorkerProcess.confine(configuration), configuration)

let runtime = WorkerRuntime(configuration, link: link)
runtime.listenForControl()
runtime.load()
runtime.carryRuns()
