// SPDX-License-Identifier: Apache-2.0
// The coming starts of all schedules.
import { el, svg } from "./dom.js";
import { badge, choose, filters, has, heading, kept, panel, quiet, search, table, taskLink, theirs } from "./parts.js";
import { count, date, number, short, when } from "./time.js";

/** How old the shown plan may be, milliseconds: only time and a new manifest change it. */
const PERIOD = 60_000;
const HOUR = 3600_000;
const SPANS = [["", "24 hours"], ["7d", "7 days"]];
/** How many schedules are drawn, and how many starts are listed. */
const ROWS = 100;
const LISTED = 50;

const hoursOf = ({ span }) => (span === "7d" ? 168 : 24);

const load = (ctx, fresh) => kept(ctx, PERIOD, "/v1/plan", { hours: hoursOf(ctx.query), each: 200, limit: 3000 }, fresh);

/** The next starts of one task; with a schedule of once a year, too. */
export const nextOf = (ctx, task, fresh) => kept(ctx, PERIOD, "/v1/plan", { task, hours: 8784, each: 10, limit: 10 }, fresh);

/** The time of day that a clock with this offset from UTC shows. */
const clockTime = (text, offset) => new Date(Date.parse(text) + offset * 1000).toISOString().slice(11, 16);

const links = (tasks) => tasks.map((task, index) => [index > 0 && ", ", taskLink(task)]);

/** What a change of the clock does to the starts around it. */
function effects(change, starts) {
	const near = starts.filter((start) => start.zone === change.zone && Math.abs(Date.parse(start.start) - Date.parse(change.at)) < 26 * HOUR);
	const tasksOf = (word) => [...new Set(near.filter((start) => start.note.startsWith(word)).map((start) => start.task))];
	const moved = tasksOf("clocks go forward");
	const twice = tasksOf("clocks go back");
	return [
		change.skipped.length > 0 && el("p", null, badge("warn", "skipped"), " The clock leaves out a start of ", links(change.skipped), "."),
		moved.length > 0 && el("p", null, badge("warn", "moved"), " The clock leaves out the time of ", links(moved), ": it starts at the first time after the gap."),
		twice.length > 0 && el("p", null, badge("warn", "twice"), " The clock shows the time of ", links(twice), " twice."),
	].filter(Boolean);
}

function clockPanel({ clockChanges, starts }) {
	if (!clockChanges.length) return null;
	return panel(
		"Clock changes",
		{ id: "clocks", note: number(clockChanges.length) },
		el(
			"ul",
			{ class: "changes" },
			clockChanges.map((change) => {
				const forward = change.offsetAfterSeconds > change.offsetBeforeSeconds;
				const found = effects(change, starts);
				return el(
					"li",
					{ "data-key": change.zone + change.at },
					el("strong", null, theirs(change.zone)),
					` goes ${forward ? "forward" : "back"} from ${clockTime(change.at, change.offsetBeforeSeconds)} to ${clockTime(change.at, change.offsetAfterSeconds)}, `,
					when(change.at, "short"),
					found.length ? found : el("p", { class: "quiet" }, "No start of a schedule is affected."),
				);
			}),
		),
	);
}

/** The starts of one task on a line of time. */
function strip(task, starts, rest, changes, [from, to]) {
	const x = (time) => Math.round(Math.min(1, Math.max(0, (time - from) / (to - from))) * 10000) / 10;
	const path = (list) => list.map((start) => `M${x(Date.parse(start.start))} 3v14`).join("");
	const usual = starts.filter((start) => !start.note.startsWith("clocks"));
	const unusual = starts.filter((start) => start.note.startsWith("clocks"));
	const all = rest ? rest.count : starts.length;
	const label = starts.length ? `${count(all, "start")}, the first ${short(Date.parse(starts[0].start), false)}` : "no start that is listed";
	return svg(
		"svg",
		{ viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img", "aria-label": `${task}: ${label}` },
		svg("rect", { class: "room", x: "0", y: "9", width: "1000", height: "2" }),
		rest && svg("rect", { class: "live", x: String(x(Date.parse(rest.listedUntil))), y: "6", width: String(1000 - x(Date.parse(rest.listedUntil))), height: "8" }),
		changes.map((change) => svg("line", { class: "limit", x1: String(x(Date.parse(change.at))), x2: String(x(Date.parse(change.at))), y1: "0", y2: "20" })),
		usual.length > 0 && svg("path", { class: "start", d: path(usual) }),
		unusual.length > 0 && svg("path", { class: "start odd", d: path(unusual) }),
	);
}

function stripPanel(ctx, plan, groups) {
	const from = Date.parse(plan.from);
	const hours = hoursOf(ctx.query);
	const span = [from, from + hours * HOUR];
	const parts = hours === 24 ? 4 : 7;
	const marks = Array.from({ length: parts + 1 }, (_, index) => from + (index * hours * HOUR) / parts);
	const paused = new Set(ctx.status.tasks.filter((task) => task.paused).map((task) => task.id));
	const rows = groups.slice(0, ROWS);
	return panel(
		hours === 24 ? "Next 24 hours" : "Next 7 days",
		{ id: "strip", note: count(groups.length, "schedule") },
		el(
			"ul",
			{ class: "chart strips" },
			rows.map(([task, starts]) => {
				const rest = plan.frequent.find((each) => each.task === task);
				return el(
					"li",
					{ "data-key": task },
					el("span", null, taskLink(task), paused.has(task) && [" ", badge("off", "paused")]),
					el("span", null, strip(task, starts, rest, plan.clockChanges, span), rest && quiet(`${number(rest.count)} starts; the first ${number(starts.length)} are marked`)),
				);
			}),
			el("li", { class: "axis", "aria-hidden": "true" }, el("span"), el("span", { class: "marks" }, marks.map((time) => el("span", null, hours === 24 ? short(time, false).slice(-5) : date(time).slice(5))))),
		),
		groups.length > rows.length && el("p", { class: "more" }, `${count(groups.length - rows.length, "further schedule")}: filter by task.`),
		plan.hasMore && el("p", { class: "more" }, "There are more starts than the page asks for; not all of those after ", when(plan.until, "short"), " are shown."),
	);
}

/** The moments at which more tasks start than there are slots. */
function crowdPanel(ctx, starts) {
	const { slots } = ctx.status.daemon;
	const moments = new Map();
	for (const start of starts) {
		// A random delay spreads them.
		if (start.latest) continue;
		if (!moments.has(start.start)) moments.set(start.start, []);
		moments.get(start.start).push(start.task);
	}
	const crowds = [...moments].filter(([, tasks]) => tasks.length > slots);
	if (!crowds.length) return null;
	return panel(
		"More starts at once than slots",
		{ id: "crowds", note: number(crowds.length) },
		el("p", null, `The daemon has ${count(slots, "slot")}: the other starts wait for the end of a run.`),
		table(
			"Moments with more starts than slots",
			[
				["Start", ([time]) => when(time, "short"), "fit num"],
				["Starts", ([, tasks]) => `${number(tasks.length)} for ${count(slots, "slot")}`],
				["Tasks", ([, tasks]) => [links(tasks.slice(0, 8)), tasks.length > 8 && quiet(` and ${number(tasks.length - 8)} more`)], "wide"],
			],
			crowds.slice(0, LISTED),
			([time]) => time,
			"",
		),
		crowds.length > LISTED && el("p", { class: "more" }, `${count(crowds.length - LISTED, "further moment")}.`),
	);
}

/** The columns of a list of coming starts. */
export const startColumns = (withTask) => [
	["Start", (start) => when(start.start, "short"), "fit num"],
	["From now", (start) => when(start.start), "fit num"],
	withTask && ["Task", (start) => taskLink(start.task), "task"],
	["In its zone", (start) => [clockTime(start.start, start.zoneOffsetSeconds), quiet(" ", theirs(start.zone))], "fit num"],
	["Note", (start) => (start.note || start.latest) && [start.note.startsWith("clocks") && [badge("warn", "clock change"), " "], start.latest && quiet(`at random until ${clockTime(start.latest, start.zoneOffsetSeconds)}`, start.note && "; "), start.note && quiet(theirs(start.note))], "wide"],
];

function view(ctx, plan) {
	const { query } = ctx;
	const starts = plan.starts.filter((start) => has(start.task, query.text));
	const groups = new Map();
	for (const start of starts) {
		if (!groups.has(start.task)) groups.set(start.task, []);
		groups.get(start.task).push(start);
	}
	// A skipped start may be the only one that a schedule has.
	for (const task of plan.clockChanges.flatMap((change) => change.skipped)) if (!groups.has(task) && has(task, query.text)) groups.set(task, []);
	return [
		heading("Schedule"),
		el("p", { class: "lead quiet" }, "When schedules start their tasks, if nothing else holds them: requirements, pauses and slots cannot be predicted."),
		filters(
			[number(starts.length), plan.hasMore ? " starts or more" : starts.length === 1 ? " start" : " starts"],
			choose(ctx, "span", "Show", SPANS),
			search(ctx, "text", "Filter by task", "task"),
		),
		groups.size === 0
			? el("p", { class: "panel calm" }, query.text ? "No schedule of this time matches the filter." : "No schedule starts a task in this time.")
			: [
					clockPanel(plan),
					stripPanel(ctx, plan, [...groups]),
					crowdPanel(ctx, plan.starts),
					panel("Next starts", { id: "starts", note: starts.length > LISTED ? `the first ${LISTED}` : null }, table("Next starts", startColumns(true), starts.slice(0, LISTED), (start) => start.task + start.start, "No start is listed.")),
				],
	];
}

export default { load, view };
