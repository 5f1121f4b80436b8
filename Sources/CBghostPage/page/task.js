// SPDX-License-Identifier: Apache-2.0
import { act, clearThrottle, pauseTask, resumeTask, runNow, withdraw } from "./actions.js";
import { durations } from "./chart.js";
import { el } from "./dom.js";
import { badge, block, facts, heading, href, isFailure, json, linkButton, panel, pluginLink, progressOf, prose, quiet, runBadge, runColumns, runLink, runtimeOf, table, tagLinks, theirs } from "./parts.js";
import { bytes, count, duration, number, when } from "./time.js";
import * as history from "./history.js";
import { nextOf, startColumns } from "./schedule.js";
import { stateOf } from "./tasks.js";

const GATES = {
	__proto__: null,
	paused: "not paused",
	pluginDisabled: "plugin enabled",
	pluginMissing: "plugin usable",
	manifestRemoved: "in the manifest",
	notBefore: "earliest start",
	coalescing: "start together",
	usualUse: "usual use",
	notAfter: "latest start",
	clockUnsynced: "trusted clock",
	throttle: "throttling",
	budget: "daily runtime",
	predecessor: "earlier request",
	overlap: "overlap",
	handler: "serial handler",
	slot: "slot",
	fleet: "fleet",
	replacement: "replacement",
	store: "store",
	drain: "daemon",
};

const gateName = (gate) => (gate.gate === "requirement" ? `requires ${gate.name}` : GATES[gate.gate] ?? gate.gate);

/** A pattern of a family has no runs of its own: the daemon refuses it. */
const without = (value) => (error) => (error.code ? value : Promise.reject(error));

async function load(ctx, fresh) {
	const [why, { runs }, throttle, own, plan, past] = await Promise.all([
		ctx.get("/v1/why", { id: ctx.id }),
		ctx.get("/v1/runs", { task: ctx.id, limit: 50 }).catch(without({ runs: [] })),
		ctx.get("/v1/throttle", { task: ctx.id }).catch(without({ tasks: [] })),
		ctx.get("/v1/status", { task: ctx.id }).catch(without({ tasks: [] })),
		nextOf(ctx, ctx.id, fresh).catch(without({ starts: [] })),
		ctx.id.endsWith(".*") ? null : history.load(ctx, fresh).catch(without(null)),
	]);
	return { past, why, runs, starts: plan.starts, throttle: throttle.tasks[0] ?? null, task: own.tasks[0] ?? null };
}

function gateTable(label, gates) {
	return table(
		label,
		[
			["", (gate) => (gate.open ? badge("good", "met") : gate.until ? badge("wait", "not yet") : badge("bad", "unmet")), "fit"],
			["Condition", (gate) => el("strong", null, gateName(gate)), "fit"],
			["Now", (gate) => [prose(gate.now), gate.source && quiet(" ", theirs(gate.source))]],
			["Wanted", (gate) => prose(gate.wanted)],
			["Since", (gate) => when(gate.since), "fit num"],
			["Opens", (gate) => (gate.open ? "" : when(gate.until, "relative", "unknown")), "fit num"],
			gates.some((gate) => !gate.open) && ["To unblock", (gate) => [prose(gate.remedy), gate.ids.map((id) => [" ", el("code", { title: id }, `…${id.slice(-8)}`)])], "wide"],
		],
		gates,
		(gate) => gate.gate + (gate.name ?? ""),
		"",
	);
}

/** Who paused what, since when, until when and why. */
function pausedBy({ scope, name, by, since, until, reason }) {
	const what = scope === "all" ? "all tasks paused" : scope === "plugin" ? `plugin ${name} paused` : name.endsWith(".*") ? `${name} paused` : "paused";
	return [theirs(what), " by ", theirs(by), " ", when(since), until && [", until ", when(until, "short")], reason && [": ", theirs(reason)]];
}

function verdict(explained) {
	const { request, earliestStart, certain, counterfactual } = explained;
	if (certain && earliestStart) return ["Starts ", when(earliestStart), ", at ", when(earliestStart, "short"), "."];
	if (!earliestStart && !counterfactual) return "It can no longer start.";
	const cause = request.waitingFor.length ? [prose(request.waitingFor.join("; ")), ". "] : "";
	return ["Waits for ", cause, "No start time can be predicted."];
}

function whyPanel(ctx, why) {
	const title = why.requests.length ? "Why it waits" : why.running.length ? "Why it runs" : "Why it does not run";
	if (!why.requests.length) {
		return panel(
			title,
			{ id: "why" },
			el(
				"p",
				{ class: "verdict" },
				why.running.length
					? `${count(why.running.length, "run")} in progress, and no request is pending.`
					: why.dead
						? ["Its last request is a dead letter: ", prose(why.dead.reason), ". ", el("a", { href: href("dead", null, { task: why.task }) }, "Show")]
						: why.schedule?.next
							? ["No request is pending. Its schedule submits the next one ", when(why.schedule.next), "."]
							: "No request is pending, and it has no schedule: a handler or an operator submits its requests.",
			),
		);
	}
	return panel(
		title,
		{ id: "why", note: why.total > 1 ? `${number(why.total)} requests` : null, actions: !ctx.id.endsWith(".*") && act("Withdraw", () => withdraw({ task: why.task }), `Withdraw the pending requests of ${why.task}`) },
		why.requests.slice(0, 5).map((explained) => {
			const unmet = explained.gates.filter((gate) => !gate.open);
			const met = explained.gates.filter((gate) => gate.open);
			return el(
				"div",
				{ class: "request", "data-key": explained.request.id },
				el("p", { class: "verdict" }, verdict(explained), explained.counterfactual && quiet(" It ", prose(explained.counterfactual), ".")),
				unmet.length > 0 && gateTable("Unmet conditions", unmet),
				el("details", null, el("summary", null, `${count(met.length, "condition")} met`), gateTable("Met conditions", met)),
				el(
					"p",
					{ class: "quiet" },
					`Request …${explained.request.id.slice(-8)}, attempt ${explained.request.attempt}, priority ${explained.request.priority}, submitted `,
					when(explained.request.submittedAt),
					explained.request.submitter ? ` by ${explained.request.submitter}` : "",
					explained.request.submitterRun ? [" ", runLink(explained.request.submitterRun)] : "",
					explained.request.simulated ? ", manual" : "",
				),
				Object.keys(explained.request.parameters ?? {}).length > 0 && el("details", null, el("summary", null, "Parameters"), block("Parameters", json(explained.request.parameters))),
			);
		}),
		why.requests.length > 5 && el("p", { class: "more" }, el("a", { href: href("waiting", null, { task: why.task }) }, "Show all waiting requests")),
	);
}

function view(ctx, { past, why, runs, starts, throttle, task }) {
	const last = runs.find((run) => run.outcome) ?? why.last;
	const first = why.requests[0];
	const recent = runs.filter((run) => run.outcome).slice(0, 20);
	const known = runs[0] ?? why.last;
	const isFamily = ctx.id.endsWith(".*");
	return [
		heading(
			theirs(ctx.id),
			null,
			act("Run now", () => runNow(ctx.id), null, "main"),
			task?.paused ? act("Resume", () => resumeTask(task.paused)) : act("Pause", () => pauseTask(ctx.id)),
			linkButton("Logs", href("logs", null, { task: isFamily ? null : ctx.id })),
		),
		el(
			"div",
			{ class: "lead" },
			task && stateOf(task),
			last && el("span", null, "last ", runBadge(last), " ", el("a", { href: href("runs", last.id) }, when(last.endedAt))),
			task?.paused && el("span", null, pausedBy(task.paused)),
			task?.deadLetters > 0 && el("a", { href: href("dead", null, { task: ctx.id }) }, count(task.deadLetters, "dead letter")),
		),
		el(
			"div",
			{ class: "columns wide-left" },
			el(
				"div",
				null,
				why.running.length > 0 &&
					panel(
						"Running",
						{ id: "running" },
						table("Runs in progress", [["Run", (run) => runLink(run.id), "fit"], ["Progress", progressOf, "wide"], ["Runtime", runtimeOf, "fit num"], ["CPU", (run) => duration(run.cpuSeconds), "fit num"], ["Memory", (run) => bytes(run.peakMemoryBytes), "fit num"]], why.running, (run) => run.id, ""),
					),
				whyPanel(ctx, why),
				starts.length > 0 && panel("Next starts", { id: "starts", note: starts.length < 10 ? null : "the first 10" }, table("Next starts", startColumns(false), starts, (start) => start.start, "")),
			),
			el(
				"div",
				null,
				panel(
					"Definition",
					{ id: "definition" },
					facts([
						["Plugin", task && pluginLink(task.plugin)],
						["Kind", task?.kind ?? known?.kind],
						["Tags", tagLinks(task?.tags)],
						["Schedule", why.schedule ? theirs(why.schedule.text) : "none"],
						["Next start", first?.earliestStart && first.certain ? [when(first.earliestStart), ", ", when(first.earliestStart, "short")] : why.schedule?.next ? [when(why.schedule.next), ", ", when(why.schedule.next, "short")] : null],
						["Runtime limit", known && duration(known.limitSeconds)],
						["Grace", known && duration(known.graceSeconds)],
						["Throttling", throttle && throttle.points > 0 && [`${count(throttle.points, "point")}${throttle.mode === "dryRun" ? " (dry run)" : ""}, next start `, when(throttle.nextStart, "relative", "now"), " ", act("Clear", () => clearThrottle(ctx.id, throttle.points), "Clear throttling", "small")]],
					]),
					task?.definition &&
						el(
							"details",
							null,
							el("summary", null, "In the manifest: ", theirs(task.definition.place)),
							facts(task.definition.settings.map(({ key, value }) => [theirs(key), el("code", null, theirs(value))])),
						),
				),
			),
		),
		panel(
			"Runs",
			{ id: "runs", note: runs.length ? `${recent.length ? `${recent.filter((run) => !isFailure(run)).length} of the last ${recent.length} without failure` : ""}` : null, actions: runs.length > 0 && linkButton("All runs", href("runs", null, { task: ctx.id })) },
			durations(runs.filter((run) => run.outcome)),
			table("Runs of the task", runColumns(false), runs.slice(0, 20), (run) => run.id, "It has not run yet."),
		),
		past && history.view(ctx, past),
	];
}

export default { load, view };
