// SPDX-License-Identifier: Apache-2.0
// The session, and the requests to the daemon.

/** A refusal by the daemon, `bghost.error/1`. */
export class Refusal extends Error {
	constructor(status, error) {
		super(error?.message || `the daemon answered with status ${status}`);
		this.status = status;
		this.code = error?.code ?? "";
		this.fix = error?.fix ?? "";
		this.candidates = error?.candidates ?? [];
	}
}

/** The daemon gave no answer. */
class Unreachable extends Error {}

const KEY = "bghost.session";
/** How long an answer may take, milliseconds; a run that is waited for has no such request. */
const TIMEOUT = 8000;

/** Tells of the end of the session: `ended`, with the reason in `detail`. */
export const events = new EventTarget();
let session = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
let answerDate = null;

export const current = () => session;
export const lastDate = () => answerDate;
export const mayOperate = () => session?.role === "operate";

function keep(value) {
	session = value;
	if (value) sessionStorage.setItem(KEY, JSON.stringify(value));
	else sessionStorage.removeItem(KEY);
}

// A new tab has no session of its own; another tab of this page gives it its own.
const channel = new BroadcastChannel("bghost");
channel.onmessage = ({ data }) => {
	if (data === "ask" && session) channel.postMessage(session);
	if (data === "end") end("You logged out in another tab.");
};

/** Waits shortly for the session of another tab. */
export async function adopt() {
	if (session) return true;
	const answer = new Promise((resolve) => {
		const listen = ({ data }) => data?.token && resolve(data);
		channel.addEventListener("message", listen);
		setTimeout(() => resolve(null), 150);
	});
	channel.postMessage("ask");
	const found = await answer;
	if (found && !session) keep(found);
	return session !== null;
}

function end(reason) {
	if (!session) return;
	keep(null);
	events.dispatchEvent(new CustomEvent("ended", { detail: reason }));
}

// Numbers beyond 2^53 would be shown rounded.
function parsed(text) {
	if (!JSON.rawJSON || !/\d{16}/.test(text)) return JSON.parse(text);
	return JSON.parse(text, (key, value, context) =>
		typeof value === "number" && context.source && !Number.isSafeInteger(value) && /\d{16}/.test(context.source)
			? JSON.rawJSON(context.source)
			: value,
	);
}

/** A number of an answer, rounded if it is beyond 2^53; 0 if there is none. */
export const rounded = (value) => Number(value?.rawJSON ?? value ?? 0);

function address(path, query) {
	// Not URLSearchParams, which writes a space as a plus: to the daemon a plus is a plus.
	const pairs = Object.entries(query ?? {}).filter(([, value]) => value != null && value !== "");
	return pairs.length ? `${path}?${pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}` : path;
}

async function send(method, path, { query, body, signal, stream = false } = {}) {
	const headers = {};
	if (session) headers.Authorization = `Bearer ${session.token}`;
	if (method !== "GET") headers["Content-Type"] = "application/json";
	const signals = [signal, stream ? null : AbortSignal.timeout(TIMEOUT)].filter(Boolean);
	let response;
	try {
		response = await fetch(address(path, query), {
			method,
			headers,
			body: body === undefined ? undefined : JSON.stringify(body),
			signal: signals.length ? AbortSignal.any(signals) : undefined,
			cache: "no-store",
			credentials: "omit",
			redirect: "error",
		});
		if (response.ok && stream) return response;
		answerDate = response.headers.get("Date");
		const text = await response.text();
		let value = null;
		try {
			value = text ? parsed(text) : null;
		} catch {
			throw new Unreachable("the answer is not JSON");
		}
		if (response.ok) return value;
		const refusal = new Refusal(response.status, value?.error);
		if (response.status === 401 && session) end("The session is over, or the daemon was restarted since it began.");
		throw refusal;
	} catch (error) {
		if (error instanceof Refusal || error instanceof Unreachable || signal?.aborted) throw error;
		throw new Unreachable(error.name === "TimeoutError" ? `no answer within ${TIMEOUT / 1000} s` : "no connection");
	}
}

export const get = (path, query, signal) => send("GET", path, { query, signal });
export const post = (path, query, body) => send("POST", path, { query, body });
export const remove = (path, query) => send("DELETE", path, { query });

/** Exchanges a ticket for a session. */
export async function login(ticket) {
	keep(null);
	const { token, role, expiresAt, host, version } = await send("POST", "/v1/web/session", { body: { ticket } });
	keep({ token, role, expiresAt, host, version });
}

export async function logout() {
	try {
		await remove("/v1/web/session");
	} finally {
		channel.postMessage("end");
		end("You logged out.");
	}
}

/** Calls `line` with each JSON line of a stream until it ends or `signal` aborts it. */
export async function stream(path, query, signal, line) {
	const response = await send("GET", path, { query, signal, stream: true });
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const { value, done } = await reader.read();
		if (done) return;
		const lines = (rest + value).split("\n");
		rest = lines.pop();
		for (const text of lines) if (text) line(JSON.parse(text));
	}
}
