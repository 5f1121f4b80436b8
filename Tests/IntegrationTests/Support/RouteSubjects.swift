// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy

/// What there is to ask the control server about, and what is asked.
struct RouteSubjects {
    var ended: RunRecord
    var active: RunRecord
    var waiting: PendingRequest
    var each: OneOfEach

    /// What is asked of each route, where there is something to find and where there is not.
    ///
    /// A route that has no entry fails the test.
    var questions: [String: (found: [String], refused: [String])] {
        let unknown = RunID(high: 1, low: 1).description
        let tasks = [
            "late.task", "family.*", "family.one", "gated", "hourly", "fail", "paused", "once",
            "step",
            "deliver",
        ]
        let otherCursor = PageCursor.starts(due: 1, number: 2).text
        func list(_ path: String, _ more: String) -> (found: [String], refused: [String]) {
            (
                ["", "?limit=1", "?task=late.task", "?task=family.*", "?plugin=misbehave\(more)"]
                    .map { path + $0 },
                ["?task=nosuch", "?plugin=nosuch", "?cursor=x", "?cursor=\(otherCursor)"]
                    .map { path + $0 }
            )
        }
        return [
            "/healthz": (["/healthz"], []),
            "/metrics": (["/metrics"], []),
            "/readyz": (["/readyz"], []),
            "/v1/health": (["/v1/health"], []),
            "/v1/version": (["/v1/version"], []),
            "/v1/status": (["/v1/status"], []),
            "/v1/requests/:id/run": (
                ["/v1/requests/\(ended.request)/run"],
                ["/v1/requests/\(unknown)/run", "/v1/requests/x/run"]
            ),
            "/v1/runs": (
                [
                    "/v1/runs", "/v1/runs?task=fail&limit=1", "/v1/runs?outcome=running",
                    "/v1/runs?submitterRun=\(unknown)",
                    "/v1/runs?outcome=unsuccessful&since=2h&until=00:00&plugin=p&text=x&id=0&before=9&after=0",
                ],
                [
                    "/v1/runs?task=nosuch", "/v1/runs?since=soon", "/v1/runs?outcome=bad",
                    "/v1/runs?submitterRun=0",
                ]
            ),
            "/v1/starts": (
                [
                    "/v1/starts", "/v1/starts?task=fail&since=1d&until=1s&limit=1",
                    "/v1/starts?task=*&plugin=misbehave&what=late&cursor=\(otherCursor)",
                ],
                [
                    "/v1/starts?task=nosuch", "/v1/starts?since=soon", "/v1/starts?what=lost",
                    "/v1/starts?plugin=nosuch", "/v1/starts?cursor=x",
                ]
            ),
            "/v1/days": (
                [
                    "/v1/days", "/v1/days?task=fail&since=1d&until=0s&limit=1",
                    "/v1/days?task=*&cursor=\(PageCursor.days(day: 1, number: 2).text)",
                ],
                [
                    "/v1/days?task=nosuch", "/v1/days?since=soon", "/v1/days?cursor=x",
                    "/v1/days?cursor=\(otherCursor)", "/v1/days?plugin=misbehave",
                ]
            ),
            "/v1/plan": (
                ["/v1/plan", "/v1/plan?task=fail&hours=8784&each=5000&limit=5000"],
                [
                    "/v1/plan?task=nosuch", "/v1/plan?hours=0", "/v1/plan?hours=8785",
                    "/v1/plan?each=0", "/v1/plan?limit=5001", "/v1/plan?days=7",
                ]
            ),
            "/v1/past": (
                ["/v1/past?task=fail&at=2h", "/v1/past?task=late.task&at=2000-01-01"],
                [
                    "/v1/past", "/v1/past?task=nosuch&at=2h", "/v1/past?task=fail&at=soon",
                    "/v1/past?task=fail&at=2200-01-01",
                ]
            ),
            "/v1/audit": (
                [
                    "/v1/audit",
                    "/v1/audit?since=1d&until=1s&actor=0&verb=x&target=y*&before=9&after=0&limit=1",
                ],
                ["/v1/audit?since=soon", "/v1/audit?limit=0", "/v1/audit?who=me"]
            ),
            "/v1/audit/check": (["/v1/audit/check"], ["/v1/audit/check?head=x"]),
            "/v1/runs/:id": (
                [ended, active, each.saver].map { "/v1/runs/\($0.id)" },
                ["/v1/runs/\(unknown)", "/v1/runs/x"]
            ),
            "/v1/pending": list("/v1/pending", "&submitter=manifest"),
            "/v1/checkpoints": list("/v1/checkpoints", ""),
            "/v1/dead": list("/v1/dead", "&since=1d&until=1s"),
            "/v1/throttle": (
                ["/v1/throttle", "/v1/throttle?task=fail"], ["/v1/throttle?task=nosuch"]
            ),
            "/v1/uses": (["/v1/uses", "/v1/uses?task=late.task"], ["/v1/uses?task=nosuch"]),
            "/v1/drain": (["/v1/drain"], ["/v1/drain?finish=true"]),
            "/v1/fleet": (["/v1/fleet"], ["/v1/fleet?task=a"]),
            "/v1/fleet/requests": (
                [],
                [
                    "/v1/fleet/requests", "/v1/fleet/requests?state=dead&limit=1",
                    "/v1/fleet/requests?state=x", "/v1/fleet/requests?cursor=x",
                    "/v1/fleet/requests?limit=0",
                ]
            ),
            "/v1/pauses": (["/v1/pauses"], ["/v1/pauses?task=a"]),
            "/v1/alerts": (["/v1/alerts"], ["/v1/alerts?task=a"]),
            "/v1/why": (
                (tasks + [waiting.id.description]).map { "/v1/why?id=" + $0 },
                ["/v1/why", "/v1/why?id=nosuch", "/v1/why?id=" + unknown]
            ),
            "/v1/notifications": (["/v1/notifications"], ["/v1/notifications?task=a"]),
            "/v1/transfers": (
                ["/v1/transfers", "/v1/transfers?limit=1"], ["/v1/transfers?task=a"]
            ),
            "/v1/logs": (
                [
                    "/v1/logs", "/v1/logs?limit=3&task=fail&level=info",
                    "/v1/logs?follow=true&limit=1", "/v1/logs?since=1h&until=1s&text=x&before=9",
                    "/v1/logs?before=9-1-2&limit=1",
                ],
                [
                    "/v1/logs?task=nosuch", "/v1/logs?level=x", "/v1/logs?since=soon",
                    "/v1/logs?before=x", "/v1/logs?follow=true&since=1h",
                ]
            ),
        ]
    }
}
