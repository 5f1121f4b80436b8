// SPDX-License-Identifier: Apache-2.0
import { act, expireRun, runNow, stopRun } from "./actions.js";
import { el, svg } from "./dom.js";
import { block, facts, faultOf, heading, href, json, linkButton, panel, pluginLink, progressOf, prose, quiet, runBadge, runColumns, runLink, shortId, table, taskLink, theirs } from "./parts.js";
import { bytes, count, duration, now, number, when } from "./time.js";

/** How many runs and waiting requests that follow the run are shown. */
const FOLLOWERS = 20;
/** How many waiting requests of runs are looked through. */
const WAITING = 200;
const HOUR = 3600_000;
/** How often what follows an ended run is looked for, ms: the daemon may read many rows for it. */
const FOLLOWERS_PERIOD = 30_000;

async function load(ctx) {
	const { local } = ctx;
	const isOld = local.ended && Date.now() - local.ended > 5000;
	// An ended run does not change; its log may, and its followers come later.
	if (!isOld) {
		const [{ run }, { entries }] = await Promise.all([ctx.get(`/v1/runs/${encodeURIComponent(ctx.id)}`), ctx.get("/v1/logs", { run: ctx.id, limit: 200 })]);
		const { runs } = run.outcome || run.attempt > 1 ? await ctx.get("/v1/runs", { task: run.task, limit: 100 }) : { runs: [] };
		if (run.outcome) local.ended ??= Date.now();
		local.data = { run, entries, attempts: runs.filter((each) => each.request === run.request) };
	}
	if (!isOld || Date.now() - local.lookedAt >= FOLLOWERS_PERIOD) {
		local.followers = await followersOf(ctx, local.data.run);
		local.lookedAt = Date.now();
	}
	return { ...local.data, followers: local.followers };
}

/** The runs and the waiting requests that this run submitted, or that follow its success. */
async function followersOf(ctx, run) {
	const query = { submitterRun: run.id, since: run.startedAt ?? run.submittedAt, limit: FOLLOWERS };
	const [answer, waiting] = await Promise.all([ctx.get("/v1/runs", query), ctx.get("/v1/pending", { submitter: "run", limit: WAITING })]);
	let { runs } = answer;
	// The daemon has looked through the newest runs only. Most followers run soon.
	if (!runs.length && answer.next && run.endedAt) ({ runs } = await ctx.get("/v1/runs", { ...query, until: new Date(Date.parse(run.endedAt) + HOUR).toISOString() }));
	return { runs, requests: waiting.requests.filter((request) => request.submitterRun === run.id).slice(0, FOLLOWERS) };
}

function followersPanel({ runs, requests }) {
	return panel(
		"Followers",
		{ id: "followers", note: count(runs.length + requests.length, "request") },
		requests.length > 0 &&
			table(
				"Waiting requests that follow the run",
				[
					["Task", (request) => taskLink(request.task), "task"],
					["Request", (request) => el("code", { title: request.id }, shortId(request.id)), "fit"],
					["Waits for", (request) => prose(request.waitingFor.join("; ")), "wide"],
				],
				requests,
				(request) => request.id,
				"",
			),
		runs.length > 0 && table("Runs that follow the run", runColumns(true), runs, (each) => each.id, ""),
	);
}

/** What happened when; a time that the daemon did not record is derived where it can be. */
function steps(run, entries) {
	const time = (text) => (text ? Date.parse(text) : null);
	const logged = entries.find((entry) => entry.event === "run.expiring" || entry.event === "run.stopping");
	const begun = time(run.startedAt);
	const asked = run.stopReason ? time(logged?.time) ?? (run.stopReason === "expired" && begun ? begun + run.limitSeconds * 1000 : null) : null;
	const grace = asked === null ? null : asked + run.graceSeconds * 1000;
	const ended = time(run.endedAt);
	return [
		{ name: "Submitted", at: time(run.submittedAt) },
		{ name: "Started", at: begun },
		!run.stopReason && !ended && begun && { name: "Limit", at: begun + run.limitSeconds * 1000, isPlan: true },
		run.stopReason && { name: "Asked to stop", at: asked, note: run.stopReason },
		run.stopReason && grace !== null && (ended === null || grace <= ended + 50) && { name: "Grace ended", at: grace, isPlan: ended === null && grace > now() },
		(ended || !begun) && { name: "Ended", at: ended },
	].filter(Boolean);
}

function timeline(run, entries) {
	let before = null;
	const list = steps(run, entries).map(({ name, at, note, isPlan }) => {
		const gap = at !== null && before !== null ? (at - before) / 1000 : null;
		if (at !== null) before = at;
		return el(
			"li",
			{ class: isPlan ? "plan" : at === null ? "open" : "" },
			el("span", { class: "title" }, name),
			el("span", { class: "num" }, at === null ? "–" : when(new Date(at).toISOString(), "precise")),
			el("span", { class: "quiet num" }, gap === null ? (note ?? " ") : [gap >= 0 ? `+${duration(gap) || "0 s"}` : "", note && ` · ${note}`]),
		);
	});
	return el("ol", { class: "timeline" }, list);
}

/** The runtime against its limit and the grace after it. */
function use(run) {
	const limit = run.limitSeconds;
	const whole = limit + run.graceSeconds;
	const used = run.durationSeconds ?? (run.startedAt ? (now() - Date.parse(run.startedAt)) / 1000 : 0);
	const at = (seconds) => Math.min(600, (seconds / Math.max(whole, used)) * 600);
	return el(
		"figure",
		{ class: "chart use" },
		svg(
			"svg",
			{ viewBox: "0 0 600 14", preserveAspectRatio: "none", role: "img", "aria-label": `${duration(used) || "0 s"} of ${duration(limit)} used, and ${duration(run.graceSeconds)} of grace after it` },
			svg("rect", { class: "room", x: "0", y: "0", width: String(at(limit)), height: "14" }),
			svg("rect", { class: "unknown", x: String(at(limit)), y: "0", width: String(600 - at(limit)), height: "14" }),
			svg("rect", { class: "live", x: "0", y: "0", width: String(Math.max(2, at(Math.min(used, limit)))), height: "14" }),
			used > limit && svg("rect", { class: "bad", x: String(at(limit)), y: "0", width: String(at(used) - at(limit)), height: "14" }),
			svg("line", { class: "limit", x1: String(at(limit)), x2: String(at(limit)), y1: "0", y2: "14" }),
		),
		el("figcaption", null, el("span", null, `${duration(used) || "0 s"} used`), el("span", null, `limit ${duration(limit)}, grace ${duration(run.graceSeconds)}`)),
	);
}

/** The type of an error and its place, as far as they are known. */
const errorOf = ({ type, file, line }) => [type, [file, line].filter(Boolean).join(":")].filter(Boolean).join(" at ");

function crashPanel({ line, place, address, stacks }) {
	return panel(
		"Crash report",
		{ id: "crash" },
		(line || place || address) &&
			facts([
				["Last line on stderr", line && theirs(line)],
				["Place", place && el("code", null, place)],
				["Memory address", address && el("code", null, address)],
			]),
		stacks.map(({ thread, frames }, index) =>
			el("details", { open: index === 0 }, el("summary", null, "Thread ", theirs(thread)), block(`Stack of ${thread}`, frames.map((frame, depth) => `${String(depth).padStart(2)}  ${frame}`).join("\n"))),
		),
	);
}

const logTable = (entries) =>
	table(
		"Log of the run",
		[
			["Time", (entry) => when(entry.time, "precise"), "fit num"],
			["Level", (entry) => el("span", { class: `level ${entry.level}` }, entry.level), "fit"],
			["From", (entry) => theirs(entry.event || entry.source), "fit"],
			["Message", (entry) => theirs(entry.message, { class: "theirs mono" }), "wide"],
		],
		entries,
		(entry) => String(entry.sequence),
		"The daemon's log no longer has lines of this run.",
	);

function view(ctx, { run, entries, attempts, followers }) {
	const message = faultOf(run);
	const isLive = !run.outcome;
	return [
		heading(
			["Run ", el("span", { class: "id" }, shortId(run.id))],
			{ "aria-label": `Run ${run.id}` },
			isLive && act("Expire", () => expireRun(run)),
			isLive && act("Stop", () => stopRun(run), null, "danger"),
			!isLive && act("Run the task again", () => runNow(run.task)),
			linkButton("Logs", href("logs", null, { run: run.id })),
		),
		el("div", { class: "lead" }, runBadge(run), taskLink(run.task), isLive ? progressOf(run) : quiet("ended ", when(run.endedAt))),
		message && el("p", { class: `message ${run.outcome && run.outcome !== "succeeded" ? "bad" : ""}` }, theirs(message)),
		run.error && el("p", { class: "quiet" }, theirs(errorOf(run.error))),
		panel("Timeline", { id: "timeline", note: run.startedAt ? null : "its handler did not start" }, timeline(run, entries), use(run)),
		el(
			"div",
			{ class: "columns wide-left" },
			el(
				"div",
				null,
				panel(
					"Output",
					{ id: "output", note: run.output && run.outputBytes > run.output.length + 1024 ? `the end of ${bytes(run.outputBytes)}` : null },
					run.output ? block("Output", run.output) : el("p", { class: "empty" }, isLive && run.outputBytes ? `${bytes(run.outputBytes)} so far; the log shows it.` : "It printed nothing."),
				),
				run.crash && crashPanel(run.crash),
				panel("Result", { id: "result" }, run.result == null ? el("p", { class: "empty" }, isLive ? "It has not ended." : "The handler returned none.") : block("Result", json(run.result))),
				panel("Log", { id: "log", note: entries.length ? number(entries.length) : null }, logTable(entries)),
				followers.runs.length + followers.requests.length > 0 && followersPanel(followers),
				attempts.length > 1 && panel("Attempts", { id: "attempts", note: count(attempts.length, "run") }, table("Attempts of the request", runColumns(false), attempts, (each) => each.id, "")),
			),
			panel(
				"Facts",
				{ id: "facts" },
				facts([
					["Run", el("code", null, run.id)],
					["Request", el("code", null, run.request)],
					["Predecessor", run.submitterRun && runLink(run.submitterRun)],
					["Attempt", run.attempt],
					["Kind", run.kind],
					["Plugin", [pluginLink(run.plugin), run.pluginVersion && ` ${run.pluginVersion}`]],
					["Process", run.pid],
					["Processor time", run.cpuSeconds == null ? null : duration(run.cpuSeconds)],
					["Peak memory", run.peakMemoryBytes == null ? null : bytes(run.peakMemoryBytes)],
					["Output", run.outputBytes ? bytes(run.outputBytes) : "none"],
					["Library", run.librarySHA256 && el("code", { title: run.librarySHA256 }, `${run.librarySHA256.slice(0, 16)}…`)],
					["Manifest", run.manifestSHA256 && el("code", { title: run.manifestSHA256 }, `${run.manifestSHA256.slice(0, 16)}…`)],
					["Trace", run.traceparent && el("code", { title: run.traceparent }, theirs(run.traceparent.split("-")[1] ?? run.traceparent))],
					["Parent span", run.traceParentSpan && el("code", null, theirs(run.traceParentSpan))],
					["Fencing token", String(run.epoch)],
				]),
			),
		),
	];
}

export default { load, view };
