// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// The machine's time zone in a worker.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct ZoneProgramTests {
    private static let plugin = """
        #include <bghost.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <time.h>
        BG_NOTE("abi=1.0;runtime=c");
        static const bg_host *host;
        static bg_status zone(void *plugin, const bg_run_info *info) {
          char json[200];
          const char *name = getenv("TZ");
          time_t summer = 1782000000;
          struct tm parts;
          tzset();
          localtime_r(&summer, &parts);
          int length = snprintf(json, sizeof json, "{\\"name\\":\\"%s\\",\\"offset\\":%ld}",
                                name ? name : "", parts.tm_gmtoff);
          bg_result result = { sizeof result, BG_OK, { 0, 0 }, { json, (size_t)length }, 0 };
          (void)plugin;
          return host->complete(host, info->run, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
        }
        static const bg_task task = { sizeof task, 0, BG_LIT("zone"), { 0, 0 }, zone, 0, 0 };
        static const bg_task *const tasks[] = { &task };
        static const bg_plugin plugin = { sizeof plugin, 1, 0, BG_LIT("test.zone"), BG_LIT("1"),
                                          BG_LIT("test"), 0, 1, tasks, 0, 0, 0 };
        const bg_plugin *bghost_plugin_v1(const bg_host *given) { host = given; return &plugin; }
        """

    @Test(.enabled(if: mayMount, "another /etc needs root"))
    func `A worker knows the name of the machine's zone`() throws {
        let folder = try TemporaryDirectory()
        let library = try Fixture.library(source: folder.write(Self.plugin, to: "zone.c"))
        /// Runs the handler on a machine whose `/etc/localtime` is this link.
        func run(_ link: String, _ settings: String...) throws -> String {
            let script = """
                rm -rf "$1/etc" && cp -a /etc "$1/etc" && ln -sfn "$3" "$1/etc/localtime"
                mount --bind "$1/etc" /etc && exec "$4" plugin run "$2"
                """
            let ran = try Command.run(
                ["env", "-u", "TZ"] + settings
                    + ["unshare", "--mount", "sh", "-ec", script, "sh", folder.path, library, link]
                    + [Artifact.path("bghost")]
            )
            #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
            return ran.output
        }
        let zones = "/usr/share/zoneinfo"
        let berlin = #"{"name":"Europe/Berlin","offset":7200}"#
        #expect(try run("\(zones)/Europe/Berlin").contains(berlin))
        #expect(try run("..\(zones)/Europe/Berlin").contains(berlin))
        // The variable of the daemon comes first, and a name without a file is none.
        let kolkata = #"{"name":"Asia/Kolkata","offset":19800}"#
        #expect(try run("\(zones)/Europe/Berlin", "TZ=Asia/Kolkata").contains(kolkata))
        #expect(try run("/nowhere/zoneinfo/Mars/Base").contains(#""name":"","offset":0"#))
    }
}
