// SPDX-License-Identifier: Apache-2.0
// The parts that several pages show.
import { el } from "./dom.js";
import { duration, when } from "./time.js";

export const href = (page, id, query) => {
	const text = query ? new URLSearchParams(Object.entries(query).filter(([, v]) => v)).toString() : "";
	return `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`;
};

/** A text of others: isolated, so its direction cannot act on its neighbours. */
export const theirs = (text, props) => el("bdi", { class: "theirs", ...props }, text);

/** A sentence of the daemon: its `words` become code, and its times are shown as all others. */
export const prose = (text) =>
	theirs(
		(text ?? "").split(/(`[^`]+`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map((part, index) => (index % 2 === 0 ? part : part[0] === "`" ? el("code", null, part.slice(1, -1)) : when(part, "short"))),
	);

export const quiet = (...content) => el("span", { class: "quiet" }, content);

export const taskLink = (id) => el("a", { class: "name", href: href("tasks", id) }, theirs(id));
/** The tags of a task; each leads to the tasks that have it. */
export const tagLinks = (tags) => tags?.length > 0 && el("span", { class: "tags" }, tags.map((tag) => el("a", { class: "tag", href: href("tasks", null, { tag }), "aria-label": `tag ${tag}` }, theirs(tag))));
export const pluginLink = (name) => el("a", { href: href("plugins", null, { text: name }) }, theirs(name));
export const shortId = (id) => `…${id.slice(-8)}`;
export const runLink = (id, text) =>
	el("a", { class: "id", href: href("runs", id), title: id, "aria-label": `run ${id}` }, text ?? shortId(id));

const MARKS = { good: "✓", bad: "✕", warn: "!", live: "▸", wait: "◦", off: "–" };

/** A state: colour, mark and word, so that none is needed alone. */
export const badge = (tone, text) =>
	el("span", { class: `badge ${tone}` }, el("span", { class: "mark", "aria-hidden": "true" }, MARKS[tone]), text);

const REASONS = {
	graceExceeded: "grace exceeded",
	startTimeout: "start timeout",
};

/** How a run ended, in words. */
export function outcomeText(outcome) {
	const [, word, detail] = /^(\w+)(?:\((.*)\))?$/.exec(outcome) ?? [null, outcome, null];
	const name = word === "cancelledClean" ? "cancelled" : word;
	return detail ? `${name}: ${REASONS[detail] ?? detail}` : name;
}

export const toneOf = (run) =>
	!run.outcome ? "live" : run.outcome === "succeeded" ? "good" : run.outcome === "cancelledClean" ? "off" : "bad";

export const isFailure = (run) => Boolean(run?.outcome) && toneOf(run) === "bad";

const STATES = { starting: "starting", running: "running", cancelling: "stopping", killing: "being killed" };

export const runBadge = (run) => badge(toneOf(run), run.outcome ? outcomeText(run.outcome) : STATES[run.state] ?? run.state);

/** What went wrong in a run, one line. */
export function faultOf(run) {
	if (run.message) return run.message;
	const crash = run.crash;
	if (crash && (crash.line || crash.place)) return [crash.line, crash.place && `at ${crash.place}`].filter(Boolean).join(", ");
	if (run.outcome === "killed(graceExceeded)") return `did not stop within its grace of ${duration(run.graceSeconds)}`;
	return run.stopReason && run.outcome !== "succeeded" ? `asked to stop: ${run.stopReason}` : "";
}

export function progressOf(run) {
	const { done, total, phase } = run.progress ?? {};
	if (done === undefined) return quiet("no progress reported");
	const percent = total ? Math.min(100, Math.floor((done / total) * 100)) : null;
	return el(
		"span",
		{ class: "progress" },
		el("progress", { max: "100", value: percent === null ? null : String(percent), "aria-label": "progress" }),
		el("span", { class: "num" }, percent === null ? `${done}` : `${percent} %`),
		phase && theirs(phase, { class: "theirs quiet" }),
	);
}

/** How much of its runtime a run has used. */
export const runtimeOf = (run) =>
	run.startedAt
		? [when(run.startedAt, "since"), quiet(` of ${duration(run.limitSeconds)}`)]
		: quiet("starting");

/**
 * A table; each column is `[title, cell, class]`, and `key` identifies a row. On narrow screens its rows become blocks,
 * with the titles before the cells: roles keep it a table then.
 */
export function table(label, columns, rows, key, empty, sort) {
	if (!rows.length) return el("p", { class: "empty" }, empty);
	const shown = columns.filter(Boolean);
	const head = shown.map(([title, , kind, order]) => {
		const sorted = order && sort && sort.key === order;
		return el(
			"th",
			{ role: "columnheader", scope: "col", class: kind, "aria-sort": sorted ? (sort.down ? "descending" : "ascending") : null },
			order && sort
				? el("button", { type: "button", class: "sort", on: { click: () => sort.set(order) } }, title, el("span", { "aria-hidden": "true" }, sorted ? (sort.down ? " ↓" : " ↑") : " ↕"))
				: title || el("span", { class: "unseen" }, "actions"),
		);
	});
	return el(
		"table",
		{ role: "table", "aria-label": label, class: shown.length < 4 ? "few" : null },
		el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head)),
		el(
			"tbody",
			{ role: "rowgroup" },
			rows.map((row) =>
				el(
					"tr",
					{ role: "row", "data-key": key(row) },
					shown.map(([title, cell, kind]) => el("td", { role: "cell", class: kind, "data-label": title || null }, cell(row))),
				),
			),
		),
	);
}

/** A section of a page, with a heading and actions beside it. */
export function panel(title, { id = encodeURIComponent(title), actions, note }, ...content) {
	return el(
		"section",
		{ class: "panel", "data-key": id, "aria-labelledby": `h-${id}` },
		el(
			"div",
			{ class: "bar" },
			el("h2", { id: `h-${id}` }, title),
			note && quiet(note),
			actions && el("span", { class: "actions" }, actions),
		),
		content,
	);
}

/** The heading of a page; `tools` stand beside it. */
export const heading = (title, props, ...tools) =>
	el("div", { class: "heading" }, el("h1", { tabindex: "-1", ...props }, title), el("div", { class: "tools" }, tools));

export const button = (text, click, kind = "", label) =>
	el("button", { type: "button", class: kind, "aria-label": label, on: { click } }, text);

export const linkButton = (text, link, label) => el("a", { class: "button", href: link, "aria-label": label }, text);

export const facts = (pairs) =>
	el(
		"dl",
		{ class: "facts" },
		pairs.filter((pair) => pair && pair[1] != null && pair[1] !== "" && pair[1] !== false).map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))),
	);

/** A text of several lines in a box that scrolls. */
export const block = (label, text) => el("pre", { class: "block", tabindex: "0", role: "group", "aria-label": label }, text);
export const json = (value) => JSON.stringify(value, null, 2);

/** Another filter shows its list from the beginning. */
const START = { page: "", before: "", cursor: "" };

/** A field that filters: the address holds its value under `name`. */
export const search = (ctx, name, label, placeholder) =>
	el("input", {
		type: "search",
		"aria-label": label,
		placeholder,
		"data-search": true,
		"data-key": `field-${name}`,
		autocomplete: "off",
		spellcheck: "false",
		maxlength: "200",
		value: ctx.query[name] ?? "",
		on: { input: (event) => ctx.setQuery({ [name]: event.currentTarget.value, ...START }, true) },
	});

/** A value of the address that is one of the choices; others may come from a link of another page. */
export const chosen = (choices, value) => (choices.some(([known]) => known === value) ? value : "");

/** A choice that filters; `choices` are `[value, text]`, the first without a value. */
export const choose = (ctx, name, label, choices) =>
	el(
		"label",
		{ class: "choose", "data-key": `field-${name}` },
		el("span", null, label),
		el(
			"select",
			{ on: { change: (event) => ctx.setQuery({ [name]: event.currentTarget.value, ...START }) } },
			choices.map(([value, text]) => el("option", { value, selected: (ctx.query[name] ?? "") === value }, text)),
		),
	);

/** The choices of a filter by name. */
export const allOf = (names) => [["", "All"], ...names.map((name) => [name, name])];

/** The buttons below one page of a list: the address holds where it begins under `key`. */
export const pages = (ctx, key, next, [first, more] = ["Newest", "Older"]) =>
	el(
		"nav",
		{ class: "pages", "aria-label": "Parts of the list" },
		ctx.query[key] && button(first, () => ctx.setQuery({ [key]: "" })),
		next && button(more, () => ctx.setQuery({ [key]: String(next) })),
	);

const OUTDATED = ["BG4046", "BG4047"];

/** One page of a list. A daemon that was restarted refuses old cursors: the list begins anew. */
export async function part(ctx, path, query, cursor, restarted) {
	try {
		return await ctx.get(path, { ...query, cursor });
	} catch (error) {
		if (!cursor || !OUTDATED.includes(error.code) || ctx.abort.signal.aborted) throw error;
		ctx.setQuery({ cursor: "" }, true);
		restarted?.();
		return ctx.get(path, query);
	}
}

/**
 * An answer that changes slowly: it is asked for again when it is older than `period`, milliseconds, when the question
 * is another, or when the viewer wants it `fresh`.
 */
export async function kept(ctx, period, path, query, fresh) {
	const answers = (ctx.local.answers ??= new Map());
	const key = JSON.stringify(query);
	const known = answers.get(path);
	if (!fresh && known?.key === key && Date.now() - known.at < period) return known.answer;
	const answer = await ctx.get(path, query);
	answers.set(path, { key, answer, at: Date.now() });
	return answer;
}

/** Whether the daemon reads a text as a time: it would refuse one that is still being typed. */
export const isTime = (text) => /^(\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?|\d\d:\d\d(:\d\d)?|\d{1,9}[smhd])$/.test(text ?? "");
export const timeHint = "Give a time such as 03:00, 2026-11-21 03:00, 2026-11-21 or 2h (ago), in the zone of the manifest.";

/** The filters of a list, and what they left. */
export const filters = (result, ...fields) => el("div", { class: "filters", role: "search" }, fields, el("span", { class: "quiet", role: "status" }, result));

export const has = (text, part) => !part || text.toLowerCase().includes(part.toLowerCase());

/** The columns of a list of runs. */
export const runColumns = (withTask) => [
	["Outcome", runBadge, "fit"],
	withTask && ["Task", (run) => taskLink(run.task), "task"],
	["Run", (run) => runLink(run.id), "fit"],
	["Started", (run) => when(run.startedAt ?? run.submittedAt, "short"), "fit num"],
	["Duration", (run) => (run.outcome ? duration(run.durationSeconds) : run.startedAt ? when(run.startedAt, "since") : ""), "fit num"],
	["Attempt", (run) => run.attempt ?? "", "fit num"],
	["Message", (run) => (run.outcome ? theirs(faultOf(run)) : progressOf(run)), "wide"],
];
