// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// What can be wrong between an operator and the daemon.
///
/// A number is never reused.
package enum FaultCode: String, Equatable, Sendable, CaseIterable {
    // BG2: the environment.
    case notRunning = "BG2101"
    case socketForbidden = "BG2102"
    case socketTaken = "BG2103"
    case notASocket = "BG2104"
    case socketFolder = "BG2105"
    case socketPath = "BG2106"
    case versionSkew = "BG2107"
    case unreadableAnswer = "BG2108"
    case connectionLost = "BG2109"
    case readOnly = "BG2110"
    case foreignPage = "BG2120"
    case contentType = "BG2121"
    case noSession = "BG2122"
    case badTicket = "BG2123"
    case noSuchSite = "BG2124"
    case noDashboard = "BG2125"

    // BG4: requests and runs. The first eight are the codes of `SubmitErrorCode`.
    case unavailable = "BG4001"
    case tooManyPending = "BG4002"
    case notPermitted = "BG4003"
    case immediateRunIneligible = "BG4004"
    case payloadTooLarge = "BG4005"
    case badParameters = "BG4006"
    case storeFailed = "BG4007"
    case pastLatestBegin = "BG4008"
    case noSuchRun = "BG4010"
    case ambiguousRun = "BG4011"
    case runNotUnderWay = "BG4012"
    case noSuchTask = "BG4013"
    case nothingPending = "BG4014"
    case endedWithoutRun = "BG4015"
    case noSuchRequest = "BG4016"
    case ambiguousRequest = "BG4017"
    case nothingDead = "BG4018"
    case noSuchPlugin = "BG4019"
    case badRequest = "BG4020"
    case noSuchRoute = "BG4021"
    case bodyTooLarge = "BG4022"
    case stopping = "BG4023"
    case backupFailed = "BG4024"
    case badSimulation = "BG4025"
    case notStored = "BG4026"
    case notPaused = "BG4027"
    case auditFailed = "BG4028"
    case noReceiver = "BG4029"
    case manifestRefused = "BG4030"
    case needsRestart = "BG4031"
    case unfitParameters = "BG4033"
    case noFleetRequests = "BG4034"
    case noSuchCheckpoint = "BG4040"
    case badCursor = "BG4046"
    case staleCursor = "BG4047"
    case tooManyFollowers = "BG4048"
    case noSuchTag = "BG4052"
    case noFleet = "BG4053"
    case noSuchHost = "BG4054"
    case fleetUnanswered = "BG4055"
    case countChanged = "BG4074"
    case noSuchTransfer = "BG5001"
    case transferOver = "BG5002"
    case ambiguousTransfer = "BG5003"
    case internalError = "BG4099"

    // BG6: notifications.
    case noSuchNotification = "BG6001"
    case badAction = "BG6002"
    case ambiguousNotification = "BG6003"

    init(_ code: SubmitErrorCode) {
        switch code {
        case .unavailable: self = .unavailable
        case .tooManyPendingTaskRequests: self = .tooManyPending
        // No client of the control API names a kind.
        case .notPermitted, .wrongKind: self = .notPermitted
        case .immediateRunIneligible: self = .immediateRunIneligible
        case .payloadTooLarge: self = .payloadTooLarge
        case .badParameters: self = .badParameters
        case .storeFailed: self = .storeFailed
        case .pastLatestBegin: self = .pastLatestBegin
        case .unfitParameters: self = .unfitParameters
        }
    }

    init(_ code: OperatorRefusal.Code) {
        switch code {
        case .noSuchPlugin: self = .noSuchPlugin
        case .noSuchTask: self = .noSuchTask
        case .noSuchTag: self = .noSuchTag
        case .noFleet: self = .noFleet
        case .noFleetRequests: self = .noFleetRequests
        case .noSuchHost: self = .noSuchHost
        case .fleetUnanswered: self = .fleetUnanswered
        case .notPermitted: self = .notPermitted
        case .noSuchRequest: self = .noSuchRequest
        case .ambiguousRequest: self = .ambiguousRequest
        case .nothingDead: self = .nothingDead
        case .countChanged: self = .countChanged
        case .noSuchCheckpoint: self = .noSuchCheckpoint
        case .notPaused: self = .notPaused
        case .storeFailed: self = .storeFailed
        case .notStored: self = .notStored
        case .auditFailed: self = .auditFailed
        case .noReceiver: self = .noReceiver
        case .backupFailed: self = .backupFailed
        case .badSimulation: self = .badSimulation
        case .badTime: self = .badRequest
        case .badCursor: self = .badCursor
        case .staleCursor: self = .staleCursor
        case .noSuchTransfer: self = .noSuchTransfer
        case .transferOver: self = .transferOver
        case .ambiguousTransfer: self = .ambiguousTransfer
        case .unavailable: self = .unavailable
        case .badManifest: self = .manifestRefused
        case .needsRestart: self = .needsRestart
        case .noSuchNotification: self = .noSuchNotification
        case .badAction: self = .badAction
        case .ambiguousNotification: self = .ambiguousNotification
        }
    }

    /// The code of an error, for the audit.
    package static func text(of error: any Error) -> String {
        switch error {
        case let refusal as OperatorRefusal: FaultCode(refusal.code).rawValue
        case let fault as ControlFault: fault.code.rawValue
        case let error as SubmitError: FaultCode(error.code).rawValue
        default: FaultCode.internalError.rawValue
        }
    }

    /// The HTTP status of an answer that carries it.
    package var httpStatus: Int {
        switch self {
        case .badRequest, .badParameters, .pastLatestBegin, .badSimulation, .badAction, .badCursor:
            400
        case .notPermitted, .socketForbidden, .readOnly, .foreignPage: 403
        case .noSession, .badTicket: 401
        case .noSuchSite: 421
        case .unfitParameters: 422
        case .noDashboard, .noReceiver, .noFleet, .noFleetRequests: 409
        case .contentType: 415
        case .noSuchRun, .noSuchTask, .nothingPending, .noSuchRoute, .noSuchRequest, .nothingDead,
            .notPaused, .noSuchPlugin, .noSuchNotification, .noSuchTransfer, .noSuchCheckpoint,
            .noSuchTag, .noSuchHost:
            404
        case .ambiguousRun, .ambiguousRequest, .ambiguousTransfer, .ambiguousNotification,
            .backupFailed, .runNotUnderWay, .endedWithoutRun, .immediateRunIneligible,
            .manifestRefused, .needsRestart, .transferOver, .countChanged:
            409
        case .staleCursor: 410
        case .payloadTooLarge, .bodyTooLarge: 413
        case .versionSkew: 426
        case .tooManyPending, .tooManyFollowers: 429
        case .unavailable, .stopping, .fleetUnanswered: 503
        case .storeFailed, .notStored, .auditFailed: 507
        case .notRunning, .socketTaken, .notASocket, .socketFolder, .socketPath, .unreadableAnswer,
            .connectionLost, .internalError:
            500
        }
    }
}

extension FaultCode {
    /// What the code means and what to do, for `bghost help CODE`.
    package var explanation: String {
        switch self {
        case .notRunning:
            "No daemon answers at the control socket. Start it with `bghost --config tasks.json`, "
                + "or name it with --config, --control, --state-dir or BGHOST_CONTROL."
        case .socketForbidden:
            "The control socket belongs to another user. Only the user that runs the daemon, and "
                + "root, may use it: use that account, for instance with `sudo -u`."
        case .socketTaken:
            "Another daemon answers at the control socket, and two cannot share one. Stop that "
                + "daemon, or give this one a --state-dir or --control of its own."
        case .notASocket:
            "Something that is no socket lies where the control socket belongs. It is left alone: "
                + "move it away, or choose another --control."
        case .socketFolder:
            "The folder of the control socket is absent, belongs to another user, or can be "
                + "written by others, who could then put a socket of their own there. Create it "
                + "with `mkdir -m 0700`, or repair it with `chmod go-w`."
        case .socketPath:
            "The path of the control socket is absolute and has at most \(SocketPath.bytesMax) bytes, "
                + "that of its folder at most \(SocketPath.folderBytesMax). Choose a shorter --control "
                + "or --state-dir."
        case .versionSkew:
            "The program and the daemon are of versions that do not understand each other. "
                + "Restart the daemon after an upgrade."
        case .unreadableAnswer:
            "What answered at the control socket does not speak as a bghost daemon does. Check "
                + "--control, and that program and daemon are of the same version."
        case .connectionLost:
            "The daemon ended the connection before its answer was complete. It may have been "
                + "stopped: `bghost status` tells."
        case .readOnly:
            "The manifest lets members of `host.controlGroup` look at the daemon and no more. Its "
                + "`host.controlRole` decides, and a restart has it take hold."
        case .foreignPage:
            "The request came from a page in a browser, or for another host. The control socket serves "
                + "programs only, so that no page can use it where it is forwarded to a port."
        case .noSession:
            "A request to the dashboard's address needs the token of a session that has not ended. "
                + "`bghost dashboard` opens a new one."
        case .badTicket:
            "A link of `bghost dashboard` works once, within a minute, and until the daemon restarts. "
                + "Run it again."
        case .noSuchSite:
            "A browser asked for the dashboard by a name that is not its own. Use the link of "
                + "`bghost dashboard`; the names of proxies belong into `host.dashboard.hosts`."
        case .noDashboard:
            "The daemon serves no dashboard: its manifest has no `host.dashboard`, or its address is "
                + "in use. Set it, for instance `\"dashboard\": { \"listen\": \"127.0.0.1:8645\" }`, and restart."
        case .contentType:
            "A request that changes something and has a body says `Content-Type: application/json`, "
                + "which a page in a browser cannot send unasked."
        case .unavailable:
            "The daemon cannot do this now, for instance because it is about to stop, because the "
                + "task's plugin cannot be loaded or is switched off, or because its manifest names "
                + "nothing that would do it. The message and `bghost status` say why."
        case .tooManyPending:
            "As many requests wait for the task's plugin as may wait: 1 for its refresh tasks and 10 "
                + "for its processing tasks, unless its `maxPending` says otherwise. `bghost pending` "
                + "shows them, and `bghost cancel` withdraws one."
        case .notPermitted:
            "The manifest does not permit this: only identifiers that it lists under `tasks` can be "
                + "submitted, and a task or plugin does no more than its definition says. Add it "
                + "there, or correct its spelling."
        case .immediateRunIneligible: "The task cannot be run at once under its present conditions."
        case .payloadTooLarge: "The parameters are larger than a request may carry."
        case .badParameters:
            "The parameters of a request are one JSON object, such as {\"city\":\"Paris\"}."
        case .unfitParameters:
            "The parameters do not fit the schema of the task's handler, or `parametersSchema` of the "
                + "task. Each line names a place in the parameters, what is there and what is wanted. "
                + "The task's own parameters count too: a request's are laid over them."
        case .storeFailed:
            "It could not be stored, so nothing was done. Check the disk that holds the state "
                + "directory, then repeat the command."
        case .notStored:
            "It was done, but is not stored yet: until then it lasts as long as the daemon. Check the "
                + "disk that holds the state directory; the daemon tries again by itself."
        case .auditFailed:
            "The daemon notes who changes what, and refuses a change that it cannot note. Check the disk "
                + "that holds the state directory, then repeat the command; with `required` of "
                + "`host.audit` false it goes on without notes."
        case .pastLatestBegin:
            "The latest begin date is over already, or comes before the earliest, so the run could "
                + "never begin."
        case .noSuchRun: "No run has an id that begins like this. `bghost runs` lists them."
        case .ambiguousRun: "The ids of several runs begin like this. Give more characters."
        case .runNotUnderWay: "The run has already ended and cannot be stopped."
        case .noSuchTask:
            "The daemon's manifest has no task of this name. `bghost status` lists them."
        case .noSuchTag:
            "No task of the daemon's manifest has this tag. `bghost status --json` shows the `tags` of each task."
        case .noFleetRequests:
            "No task of the asked daemon has `\"runs\": \"inFleet\"`, so it knows no requests of the fleet. Ask "
                + "a daemon that has such tasks with --control or --state-dir."
        case .noFleet:
            "The manifest of the asked daemon has no `host.fleet`, so it knows no other hosts. Ask a daemon "
                + "of the fleet with --control or --state-dir, or add `host.fleet` and restart."
        case .noSuchHost:
            "The fleet has no host of this name: `host.fleet.name` of each manifest gives it. `bghost fleet "
                + "hosts` lists the hosts; the row of one is deleted 30 days after its lease ended."
        case .fleetUnanswered:
            "The database of the fleet did not answer, or refused. The change may have been made all the "
                + "same. `bghost fleet doctor` says what is wrong, and the command may be repeated."
        case .noSuchRequest:
            "No request of the kind that was looked for has an id that begins like this. `bghost "
                + "pending` lists those that wait, `bghost dead` the dead letters."
        case .ambiguousRequest:
            "The ids of several requests begin like this. Give more characters."
        case .noSuchCheckpoint:
            "No request with a checkpoint has an id that begins like this. A checkpoint ends with its "
                + "request. `bghost checkpoints` lists them."
        case .nothingDead: "There is no dead letter of the task."
        case .countChanged:
            "The command said how many it would change, and their number has changed since: requests "
                + "were submitted, ended or died. Nothing was done. Look at them again, then repeat it."
        case .notPaused:
            "There is no such pause. `bghost resume` takes the words of `bghost pause`: a task, a "
                + "pattern, --plugin or --all. `bghost pause --list` lists the pauses."
        case .noSuchPlugin:
            "The manifest has neither a plugin nor a function of this name. `bghost status --json` "
                + "lists both."
        case .noReceiver:
            "`host.alerts` of the daemon's manifest names no receiver of alerts. Add one, "
                + "then `bghost reload`."
        case .backupFailed:
            "The daemon itself writes the backup, as its own user and where its own disk is. The "
                + "file must not exist, and its folder must be writable for that user."
        case .badSimulation:
            "A simulated fact is NAME=VALUE, such as network=off, and NAME=real ends it. A simulated "
                + "clock is a step such as +6h or -30m, a time as RFC 3339 has it, or real."
        case .manifestRefused:
            "The manifest has errors, or a plugin that it adds or changes cannot be loaded. The daemon "
                + "goes on with the one that it has. `bghost check` shows what is wrong."
        case .needsRestart:
            "The manifest changes something that only a restart of the daemon can change. It goes on "
                + "with the manifest that it has: take the change back, or restart it."
        case .noSuchTransfer:
            "No transfer has an id that begins like this. `bghost transfers` lists those that are not "
                + "acknowledged."
        case .ambiguousTransfer:
            "The ids of several transfers begin like this. Give more characters."
        case .transferOver: "The transfer has ended, so it can be neither cancelled nor retried."
        case .nothingPending: "No request of the task is waiting, so there is nothing to withdraw."
        case .endedWithoutRun:
            "The request was withdrawn or replaced by a newer one before its run began."
        case .badRequest: "The control API was sent something that it does not understand."
        case .badCursor:
            "The cursor of a page is `next` of the page before it, of the same list, unchanged. Ask for "
                + "the first page without one."
        case .staleCursor:
            "The daemon restarted or took up another manifest since the page before, so the list has "
                + "another order now. Ask for the first page again, without a cursor."
        case .tooManyFollowers:
            "The daemon serves at most 32 streams that go on with new lines: 16 of members of "
                + "`host.controlGroup`, and 8 of one member, or of one session of an operator. End one of "
                + "them, or ask for lines without following them."
        case .noSuchRoute: "The control API has no such path."
        case .bodyTooLarge: "A request to the control API has at most 256 KiB."
        case .stopping: "The daemon is stopping and ends what it was asked to wait for."
        case .noSuchNotification:
            "No notification that waits or may be answered has this id. `bghost notify outbox` lists "
                + "them."
        case .badAction:
            "A notification is answered with one of its actions, or with `default`, which is to open "
                + "it; a digest, or one whose plugin is gone, takes no answer. A text that comes with it has at most 4 KiB."
        case .ambiguousNotification:
            "Several plugins have a notification of this id. Name one of them with --plugin; `bghost "
                + "notify outbox` lists them."
        case .internalError: "A bug in bghost. Please report it with the daemon's log."
        }
    }
}
