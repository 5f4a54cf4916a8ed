import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import type { CallPart } from './call-part.ts';

/** The content of a tool call: by it a call is judged and approved. */
export interface CallContent {
  readonly server: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
  /** Absent: the call itself is judged, as a tool of its server. */
  readonly parts?: readonly CallPart[];
  /** Without parts: the places of the rules that it may reach beside the paths that it names. */
  readonly reaches?: readonly string[];
  /** The folder of the project that the call is made in. */
  readonly project?: string;
}

/** A tool call of an agent program, as its hook asks about it. */
export interface AskedCall extends CallContent {
  readonly id: string;
  /** The session of the agent that makes the call. */
  readonly session?: string;
  /** The done call that this one takes back. */
  readonly undoes?: string;
}

/** The most characters of a run and an id that leave room for the number of an attempt. */
const PLAIN_MAX = 180;

const CALL_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$/;

/** The id of a call in the ledger: the session and the program's own id of the call. */
export function callIdOf(session: string, id: string): string {
  return idOf(`${session}.${id}`);
}

/**
 * The id of a call of a framework, by its run and its id there. No two calls have the same id: a
 * run with a dot, and an id that ends like a further attempt, are named by their hash.
 */
export function runCallIdOf(run: string, id: string): string {
  const isPlain = !run.includes('.') && !/:\d+$/.test(id) && run.length + id.length <= PLAIN_MAX;
  return isPlain ? callIdOf(run, id) : contentHash([run, id]).slice(0, 32);
}

/** The id of a session in the ledger. A subagent has one of its own. */
export function sessionIdOf(session: string, subagent?: string): string {
  return idOf(subagent === undefined ? session : `${session}.${subagent}`);
}

/**
 * Whether a value has a member named `__proto__`. Copies of such a value lose the member, so the
 * rules would judge other arguments than the tool gets.
 */
export function hasHiddenMember(value: unknown): boolean {
  // A body of a request may be nested deeper than functions may call each other.
  const seen = new Set<object>();
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    seen.add(next);
    for (const member of Object.values(next)) rest.push(member);
  }
  return false;
}

/** The idempotency key under which a call is asked about. */
export function keyOf({ id }: { readonly id: string }): string {
  return `call ${id}`;
}

/** A text that has no form of an id is named by its hash. */
function idOf(text: string): string {
  return CALL_ID.test(text) ? text : contentHash(text).slice(0, 32);
}
