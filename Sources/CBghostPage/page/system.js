// SPDX-License-Identifier: Apache-2.0
import { act, backup, checkReload, reload } from "./actions.js";
import { current } from "./api.js";
import { el } from "./dom.js";
import { badge, button, facts, heading, kept, panel, pluginLink, prose, quiet, table, theirs } from "./parts.js";
import { bytes, count, number, when } from "./time.js";

const PERIOD = 10000;
const MOST = 100;
const TONES = { ok: "good", warning: "warn", critical: "bad", active: "live", failed: "bad" };

async function load(ctx, fresh) {
	const ask = (path, query = {}) => kept(ctx, PERIOD, path, query, fresh);
	const { transfers, deliversNotifications } = ctx.status ?? (await ctx.get("/v1/status"));
	return Promise.all([ask("/v1/health"), ask("/v1/alerts"), deliversNotifications && ask("/v1/notifications"), transfers.underWay + transfers.ended > 0 && ask("/v1/transfers", { limit: MOST })]);
}

const failing = ({ failingSince }, why) => failingSince && [badge("bad", "failing"), " since ", when(failingSince), ": ", theirs(why ?? "")];

const alertPanel = ({ alerts, receivers }) =>
	panel(
		"Alerts",
		{},
		table(
			"Alerts that fire",
			[
				["Alert", (alert) => badge("bad", alert.rule), "fit"],
				["Of", (alert) => theirs(alert.subject), "task"],
				["Finding", (alert) => prose(alert.detail), "wide"],
				["Since", (alert) => when(alert.since), "fit num"],
				["Told", (alert) => when(alert.toldAt, "relative", "not yet"), "fit num"],
			],
			alerts,
			(alert) => `${alert.rule} ${alert.subject}`,
			receivers.length ? "No alert fires." : "No receiver of alerts is in the manifest.",
		),
		facts(receivers.map((receiver) => [theirs(receiver.name), failing(receiver, receiver.error) || ["last message ", when(receiver.deliveredAt, "relative", "never")]])),
	);

/** The first of all notifications or transfers. */
const listPanel = (title, rows, total = rows?.length) =>
	rows &&
	panel(
		title,
		{ note: total > MOST && `${MOST} of ${number(total)}` },
		table(
			title,
			[
				["State", (each) => badge(TONES[each.state] ?? "off", each.state), "fit"],
				["Plugin", (each) => pluginLink(each.plugin), "fit"],
				["Of", (each) => theirs(each.title ?? (each.label || each.url)), "wide"],
				["Moved", (each) => [each.upload ? "sent " : "", bytes(each.bytes), each.total && ` of ${bytes(each.total)}`], "fit num"],
				["Date", (each) => when(each.createdAt ?? each.retryAt ?? each.due), "fit num"],
				["Waits for", (each) => prose(each.fault || each.waitingFor), "wide"],
			],
			rows.slice(0, MOST),
			(each) => each.key ?? each.id,
			"There are none.",
		),
	);

const names = (title, list) => list.length > 0 && [title, el("span", null, list.map((name, index) => [index > 0 && ", ", theirs(name)]))];

function report({ tasks, plugins, host, parked, unparked, changes, dryRun }) {
	const rows = [
		names("Tasks added", tasks.added),
		names("Tasks changed", tasks.changed),
		names("Tasks removed", tasks.removed),
		names("Plugins added", plugins.added),
		names("Plugins changed", plugins.changed),
		names("Plugins removed", plugins.removed),
		names("Host settings changed", host),
		parked > 0 && ["Held", `${count(parked, "request")} of removed tasks`],
		unparked > 0 && ["Waiting again", count(unparked, "request")],
	].filter(Boolean);
	return panel(
		dryRun ? "What a reload would change" : "Last reload",
		{ id: "reload" },
		rows.length ? facts(rows) : el("p", { class: "empty" }, dryRun ? "A reload would change nothing." : "The manifest has not changed."),
		changes?.length > 0 &&
			table(
				"Changed keys",
				[
					["Of", (change) => [change.kind, change.name && [" ", theirs(change.name)]]],
					["Key", (change) => change.key && el("code", null, theirs(change.key)), "fit"],
					["Before", (change) => (change.before == null ? quiet("not given") : el("code", null, theirs(change.before)))],
					["After", (change) => (change.after == null ? quiet(change.key ? "not given" : "") : el("code", null, theirs(change.after)))],
					changes.some((change) => change.reason) && ["Why", (change) => prose(change.reason ?? "")],
				],
				changes,
				(change) => `${change.kind} ${change.name} ${change.key ?? change.reason}`,
				"",
			),
	);
}

function view(ctx, [health, alerts, outbox, moves]) {
	const { status, local } = ctx;
	const { daemon, store, transferJournal: journal } = status;
	const session = current();
	return [
		heading(
			"System",
			null,
			act("Check the manifest", () => checkReload(daemon.manifest, (answer) => ((local.report = answer), ctx.render()))),
			act("Reload the manifest", () => reload(daemon.manifest, (answer) => ((local.report = answer), ctx.render()))),
			act("Back up the state", backup),
		),
		local.report && report(local.report),
		panel(
			"Health",
			{ id: "health", actions: [badge(TONES[health.state], health.state), button("Check again", ctx.reload, "small")] },
			table(
				"Health checks",
				[
					["", (check) => badge(TONES[check.state], check.state), "fit"],
					["Check", (check) => el("strong", null, check.name), "fit"],
					["Finding", (check) => prose(check.message), "wide"],
					["Since", (check) => when(check.since), "fit num"],
					["Remedy", (check) => prose(check.remedy)],
				],
				health.checks,
				(check) => `${check.name} ${check.message}`,
				"There are no checks.",
			),
		),
		alertPanel(alerts),
		listPanel("Notifications", outbox?.notifications),
		listPanel("Transfers", moves?.transfers, moves?.total),
		el(
			"div",
			{ class: "columns" },
			panel(
				"Daemon",
				{ id: "daemon" },
				facts([
					["Version", daemon.version],
					["Host", theirs(session.host ?? "")],
					["Process", daemon.pid],
					["Started", [when(daemon.startedAt), ", ", when(daemon.startedAt, "short")]],
					["Manifest", el("code", null, theirs(daemon.manifest))],
					["Slots", `${daemon.slotsInUse ?? "?"} of ${daemon.slots} in use`],
					["Mode", daemon.dev ? "development: accepts files that other users could change" : null],
					["Store", store && (failing(store, store.problem) || (store.waiting ? `${count(store.waiting, "transaction")} not stored yet` : "all transactions are stored"))],
					["Journal of transfers", journal && (failing(journal, journal.problem) || (journal.waiting ? `the state of ${count(journal.waiting, "transfer")} not stored yet` : "all transfers are stored"))],
				]),
			),
			panel(
				"Session",
				{ id: "session" },
				facts([
					["Role", session.role === "operate" ? "operate: may look and act" : "read: may only look"],
					["Ends", [when(session.expiresAt), ", ", when(session.expiresAt, "short"), ", at the latest"]],
				]),
			),
		),
	];
}

export default { load, view };
