// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension DiagnosticCode {
    /// The explanation of a code about a whole file.
    var fileExplanation: String? {
        switch self {
        case .unreadable:
            """
            The manifest could not be opened or read. Check that the path is right, that it is a \
            file, and that the user of the daemon may read it and enter each folder above it.
            """
        case .fileTooLarge:
            """
            A manifest or drop-in may have 1 MiB. Larger ones are refused before they are read, \
            so that a wrong path (a log, a disk image) does not fill the memory. Split a large \
            manifest into drop-ins: tasks.d/*.json beside it.
            """
        case .emptyFile:
            """
            The file holds nothing but white space and comments. The smallest manifest is \
            {"version": 1}.
            """
        case .notUTF8:
            """
            Manifests are UTF-8. The marked bytes are not, so the file was saved in another \
            encoding or is no text. Convert it, for instance with iconv -f latin1 -t utf-8.
            """
        case .byteOrderMark:
            """
            The file begins with a byte order mark (EF BB BF), which JSON does not allow. Save it \
            as "UTF-8 without BOM", or remove the first three bytes: sed -i '1s/^\\xef\\xbb\\xbf//'.
            """
        case .cutOff:
            """
            The file ends before the JSON in it does: a bracket, string or comment that was opened \
            is never closed. Either a closing bracket is missing, or the file was not written to \
            its end (a full disk, an interrupted copy). To replace a manifest safely, write it \
            beside the old one and rename it.
            """
        case .malformed:
            """
            The text is not JSON in the marked place. Manifests are JSON with two additions: // and \
            /* */ comments, and a comma after the last element. Keys and strings stand in double \
            quotation marks; numbers are decimal.
            """
        case .nestedTooDeep:
            """
            Arrays and objects may be nested 64 levels deep. No manifest needs more; a file that \
            does was most likely made by a program that went wrong.
            """
        case .unsupportedVersion:
            """
            `version` says which format the manifest has. This program reads version 1 only. It \
            does not guess at other versions, since a key may mean something else in them.
            """
        default: nil
        }
    }

    /// The explanation of a code about keys and values.
    var valueExplanation: String? {
        switch self {
        case .duplicateKey:
            """
            A key stands twice in one object. JSON readers disagree on which of the two counts, so \
            neither does here. Remove one.
            """
        case .unknownKey:
            """
            The key is not part of the format in this place. Unknown keys are refused so that a \
            misspelt limit is not silently no limit. Keys that begin with `x-` are free for your \
            own use, and `$schema` is always accepted.
            """
        case .missingKey: "A key without which the definition means nothing is not there. Add it."
        case .wrongType:
            "The value is of another kind than this key needs, for instance a string for a number."
        case .bareNumber:
            """
            Durations and sizes are strings with a unit, such as "250ms", "30s", "5m", "2h", "1d", \
            or "64KiB", "128MiB", "1GiB". A number without one is refused: 30 seconds, minutes and \
            milliseconds look the same.
            """
        case .badDuration:
            """
            A duration is a whole number followed at once by its unit: ms, s, m (minutes), h or d. \
            Examples: "250ms", "30s", "5m", "2h", "1d".
            """
        case .badSize:
            """
            A size is a whole number followed at once by its unit: B, KiB, MiB, GiB (powers of \
            1024) or kB, MB, GB (powers of 1000). Examples: "64KiB", "128MiB", "1GiB".
            """
        case .badShare:
            """
            A share is a whole number of hundredths, followed at once by %. Of one processor "50%" is \
            half, and "200%" are two. Examples: "25%", "100%".
            """
        case .outOfRange:
            "The value is outside the range of its key. The message names the range."
        case .unknownWord: "The key takes one of a few words, and this is none of them."
        case .notHonoured:
            """
            The key or word is part of the format, but this version cannot do what it says. It is \
            refused, because to ignore it would let a task run at other times or with other rights \
            than the manifest says. Remove it, or use a version that honours it.
            """
        default: nil
        }
    }

    /// The explanation of a code about names, references and warnings.
    var nameExplanation: String {
        switch self {
        case .badIdentifier:
            """
            A task identifier has 1 to 128 of the characters A-Z a-z 0-9 . _ -, begins with a letter \
            or a digit, and has no empty part between dots. A family ends in `.*`, as in \
            com.example.export.*, and stands for every identifier that begins so.
            """
        case .definedTwice:
            """
            Two definitions have one name. In one file, remove or rename one. A drop-in that means \
            to replace a definition of an earlier file says "override": true in it.
            """
        case .overlappingFamilies:
            """
            Two families of tasks cover the same identifiers, as com.example.* and \
            com.example.export.* do, so it is not clear which of them a request belongs to. An \
            exact identifier beside a family is fine: it is taken before the family.
            """
        case .notDefined:
            """
            A task or a session names a plugin, a function or a task that no file defines. Define it, or \
            correct its spelling.
            """
        case .pluginOrFunction:
            """
            A task runs either a handler of a plugin or a function, so it names exactly one of \
            `plugin` and `function`. `handler` belongs to `plugin`.
            """
        case .nameCollision:
            """
            A plugin and a function have the same name, or a task has that of a session. Logs and \
            tables name either by its name alone, so names are unique across both.
            """
        case .badSignature:
            """
            The signature of a function cannot be read. A signature is the type of the result and \
            the types of the arguments, such as ulong(ulong, bytes, uint).
            """
        case .badFunctionParameters:
            """
            The `parameters` of a task that calls a function name its arguments, or list them as \
            `arguments`, with values that fit the types of the signature. A task that submits itself \
            (`every`, `calendar`, `submitAtStart`) gives every argument without a preset; for others \
            a request may give the rest.
            """
        case .badParametersSchema:
            """
            `parametersSchema` of a task is a JSON Schema of the keywords that docs/HANDLERS.md lists. \
            bghost refuses a keyword that it does not know, since the rule would silently not hold.
            """
        case .wrongParameters:
            """
            The `parameters` of a task fit its `parametersSchema`. A task that submits itself (`every`, \
            `calendar`, `submitAtStart`) gives all that are required; for others a request may give the \
            rest.
            """
        case .badAddress:
            """
            The dashboard is served on the loopback interface only, so its address is 127.0.0.1 or [::1] with a \
            port. To reach it from another machine, forward a port with `ssh -L`, or let a proxy with TLS on \
            this machine pass requests on, and list its name in `hosts`: in lower case, with its port \
            unless that is 443.
            """
        case .badWebAddress:
            """
            Webhooks, topics of ntfy and the heartbeat have an address with http:// or https://, a host and \
            a path, without user, password, fragment and spaces. Secret parts can be references, such as \
            https://hc-ping.com/${env:PING}. A command's `to` is one e-mail address.
            """
        case .badReceiver:
            """
            A receiver of alerts has exactly one of `webhook`, `ntfy`, `command` and `task`, and the keys \
            that belong to it: `headers` and `secret` to a webhook, `token` to ntfy, `to` to a command. A \
            command is an absolute path and arguments. A task is the one that `notifications` names.
            """
        case .badMuteWindow:
            """
            A window in which no alert is sent is a time of day, or days and a time: 02:00-04:00, \
            sat 02:00-04:00, mon-fri 22:00-06:00, sat,sun 00:00-24:00. One that ends before it begins ends \
            on the next day. Windows do not overlap, and none is empty.
            """
        case .badNetworkGrant:
            """
            A network permission is a host and a port, such as api.example.org:443, *.example.org:443 \
            or [::1]:8080. A leading `*.` stands for one or more labels. Schemes, paths, port ranges \
            and a `*` for any host are not part of it.
            """
        case .badDigest:
            """
            A SHA-256 is written as 64 lower-case hex digits, as `sha256sum FILE` prints it.
            """
        case .badPublicKey:
            """
            A public key of minisign is one line of 56 letters that begins with RW: the second line of \
            the file that `minisign -G` writes. It is no secret; the key that signs is another file.
            """
        case .badPath:
            """
            The path cannot be used: it is empty, holds a NUL, begins with `~` (which only shells \
            expand), or is too long. Relative paths count from the folder of the manifest. The path \
            of the control socket may have \(SocketPath.bytesMax) bytes, and that of its folder \
            \(SocketPath.folderBytesMax).
            """
        case .badName:
            """
            Names of plugins, handlers and functions become parts of file names and log lines, so \
            they have only A-Z a-z 0-9 . _ - and a limited length. A symbol is a C identifier.
            """
        case .badReference:
            """
            Secrets are written ${env:NAME}, ${file:PATH} or ${credential:NAME}, and the folder of \
            the main file ${manifest:dir}. They may stand only in the strings of `config` and \
            `parameters`, in the paths of `host`, and in the addresses and secrets of its `alerts` and \
            `heartbeat`. For a literal `${` write `$${`.
            """
        case .nothingToOverride:
            """
            A definition says "override": true, but no earlier file defines that name: either the \
            name is misspelt, and the original still counts, or the key can be removed.
            """
        case .notInDropIn:
            """
            A drop-in adds definitions, such as plugins and tasks. `host`, which concerns the daemon as a \
            whole, stands in the main file only.
            """
        case .needsExactIdentifier:
            """
            `submitAtStart`, `every`, `calendar` and `onBoot` submit requests by themselves, and a request \
            is for one identifier. A family stands for many, so nothing could be submitted.
            """
        case .badCalendar:
            """
            `calendar` is cron: minute, hour, day of the month, month, day of the week, or six \
            fields with the second first. A field is *, numbers, ranges (1-5), steps (*/15) and \
            lists of these; months and days of the week have names (jan, mon); @daily and its like \
            stand for whole calendars. A calendar must come at least once in its life.
            """
        case .badTimeZone:
            """
            Time zones have the names of the IANA database, such as Europe/Berlin or UTC, and come \
            from the system's package tzdata. An abbreviation such as PST or CEST names no zone; the \
            few that the database has, such as CET and EST, are zones of their own with their own rules.
            """
        case .sharedInProcess:
            """
            `runsPerWorker` says how many runs share one worker process, and `prestart` how many \
            are kept ready. An in-process plugin has no worker; only `slots` and `overlap` bound its \
            runs.
            """
        case .unenforcedInProcess:
            """
            The kernel limits processes, not parts of one. An in-process plugin shares the daemon's \
            process, so a limit on memory, processor time, processes, descriptors or stored data \
            cannot be enforced for it alone. Use "isolation": "worker" for code that needs the limit.
            """
        case .runtimeExceedsInterval:
            """
            A run may take longer than the time to the next one. Runs of one task do not overlap, so \
            a run that uses its `runtime` makes the next ones late or skips them. Shorten `runtime`, \
            lengthen `every`, or allow runs to overlap.
            """
        case .expectsInVain:
            """
            `expect` says when the daemon sends an alert about a task. Without the sections `alerts` and \
            `heartbeat` of `host` it has no receiver, so the key has no effect.
            """
        case .badFleet:
            """
            Each host of a fleet has a name of its own, with 1 to 64 of the characters A-Z a-z 0-9 . _ -, \
            so that its claims and those of the others can be told apart. Hosts with the same manifest take \
            it from outside, such as "${env:HOSTNAME}". In the URL of `connection` the user, the password and \
            the parameters are percent-encoded: with a raw `/` or `@` in a password, PostgreSQL would take a \
            part of it for a server, and show it in its messages.
            """
        case .onceWithoutCalendar:
            """
            With `"runs": "onceInFleet"` one host of the fleet serves each time of the task's calendar. The \
            times of `every` count from the first start on each host, so they are never the same.
            """
        case .onceWithoutFleet:
            """
            A task with `"runs": "onceInFleet"` needs the section `host.fleet`, and a grace of at most a third \
            of the lease: its runs are stopped when half of the lease has passed without an answer, and must \
            have ended before another host may serve their starts.
            """
        case .badInFleet:
            """
            With `"runs": "inFleet"` the requests of a task live in the database of `host.fleet`, and run on \
            whichever host owns them. What belongs to one host does not fit that: schedules, `submitAtStart`, \
            learned uses, and links of `then` from or to the task.
            """
        case .traceEndpointWithoutPath:
            """
            `traces` sends to the address as it is written. Receivers of OTLP over HTTP listen at a path, \
            which is /v1/traces for the collector of OpenTelemetry, Jaeger and most others.
            """
        case .traceEndpointOfGRPC:
            """
            The port 4317 is that of OTLP over gRPC, which bghost does not speak. The same receivers take \
            OTLP over HTTP at port 4318.
            """
        case .traceHeadersInClear:
            """
            The headers of `traces` often hold a token, and spans hold names of tasks and servers. Over \
            http:// everybody on the way can read both. Use https://, or send to a collector on this machine.
            """
        case .badTags:
            """
            A task has at most 16 tags, each once. A tag is a name by which commands select several tasks; \
            what differs between two tasks belongs into their identifiers or parameters.
            """
        case .chainCycle:
            """
            The tasks that `then` names follow one another until the first comes again. Its success would \
            submit it for ever, without a pause. Remove one of the links; a task that repeats has a schedule.
            """
        case .badChain:
            """
            `then` names at most 16 tasks, each once: a task has one pending request, so a second one would \
            replace the first. A task that it names may name further ones.
            """
        case .badRandomDelay:
            """
            `randomDelay` delays each start of a schedule by a random part of a duration, such as \
            "10m". It must be shorter than the time between two starts: a later one could come before. \
            A task without a schedule has no starts to delay; give the requests that you \
            submit an earliest date instead.
            """
        case .badOnBoot:
            """
            `onBoot` is a schedule with one start in each boot of the machine. A task has one schedule, so \
            it has no `calendar` and no `every` beside it; and keys about starts that were missed say \
            nothing, since the daemon serves the boot whenever it starts.
            """
        case .tooManyProblems:
            "There are more problems than are worth reading at once. Mend the first ones and try again."
        case .untrustedFile:
            """
            The manifest names a file that the daemon runs or believes: the program of a probe or of a \
            receiver of alerts, the file of a secret, a certificate or key of the fleet's connection. \
            A user other than root and the daemon's could change or replace it, and act as the daemon. \
            Give the file and each folder above it to root, and permit no other user to write there. \
            With --dev, on a machine of your own, bghost takes the file.
            """
        case .unresolvedSecret:
            """
            The manifest takes a value from outside that is not there: a variable that is not set, \
            a file that cannot be read, a credential that the service manager did not hand over. \
            The daemon does not start with it, and `bghost check` fails; with --no-env, for another \
            machine than the daemon's, `bghost check` does not look.
            """
        default: ""
        }
    }
}
