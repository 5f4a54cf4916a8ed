import { stepsAfter } from '../bundle/records.ts';
import type { Content } from '../bundle/verify.ts';
import { isObject } from '../entries/basic-forms.ts';
import type { Commit, Counselor, Entry, Rejection, Stored } from '../entries/payloads.ts';
import { type Child, element } from './element.ts';
import { inert } from './inert.ts';
import { nameOfEntry, time } from './names.ts';

/**
 * One sentence: the people who decided, their decision, the agent and the reason. It is read from
 * the verified entries alone. The words of a domain for its actions are in no entry, so names and
 * values of arguments stand as they are. Undefined for a bundle of several entries, and of an entry
 * that rules on nothing.
 */
export function headline(content: Content): HTMLElement | undefined {
  const { manifest, part } = content;
  const [id = '', ...more] = manifest.in_scope;
  const named = part.byId.get(id);
  if (named === undefined || more.length > 0) return undefined;
  let first = named;
  for (let asked = part.resolvedBy(first); asked !== undefined; asked = part.resolvedBy(first))
    first = asked;
  const ruled = [first, ...stepsAfter(first, part)].find(
    ({ payload: { kind } }) => kind === 'commit' || kind === 'rejection',
  );
  const words = ruled === undefined ? undecided(first, content) : decided(ruled, content);
  return words && element('p', { class: 'headline' }, ...words);
}

function undecided({ id, payload }: Entry, content: Content): readonly Child[] | undefined {
  if (payload.kind !== 'pending_approval') return undefined;
  const { action, writ_id: writ } = payload.proposal;
  return [
    ...[...asked(action.name, action.args, content), ...agentOf(writ, payload, content)],
    ...[' is undecided in this bundle', ...quoted(payload.detail), at(id, payload.at, content)],
  ];
}

function decided({ id, payload }: Entry, content: Content): readonly Child[] | undefined {
  if (payload.kind !== 'commit' && payload.kind !== 'rejection') return undefined;
  const last = payload.counselor;
  const people = [
    ...('approved_by' in payload ? (payload.approved_by ?? []) : []),
    ...(last === undefined ? [] : [last]),
  ];
  const { name, args } =
    payload.kind === 'commit'
      ? payload.action
      : { name: payload.intent.action, args: payload.intent.args };
  const before = payload.kind === 'commit' ? payload.amended?.action : undefined;
  return [
    element('strong', {}, ...byWhom(people, payload)),
    ...asked(name, args, content),
    ...(before === undefined
      ? []
      : [' (asked: ', ...asked(before.name, before.args, content), ')']),
    ...agentOf(payload.writ_id, payload, content),
    ...quoted(payload.kind === 'rejection' ? payload.detail : last?.reason),
    at(id, last?.at ?? payload.at, content),
  ];
}

function byWhom(people: readonly Counselor[], payload: Commit | Rejection): readonly Child[] {
  const reason = payload.kind === 'commit' ? undefined : payload.reason;
  if (reason === 'expired' || reason === 'upgraded') return ['Closed undecided: '];
  if (people.length === 0)
    return [reason === undefined ? 'The rules allowed ' : 'The rules refused '];
  const names = people.flatMap(({ principal }, n) => [n > 0 ? ' and ' : '', inert(principal)]);
  if (reason === 'conflict') return ['A conflict ended the approval by ', ...names, ' of '];
  return [...names, reason === undefined ? ' approved ' : ' rejected '];
}

/** The action and its arguments. A value is quoted unless it is one plain name. */
function asked(name: string, args: Stored, { part }: Content): readonly Child[] {
  const found = part.valueOf(args);
  if ('erasedBy' in found) return [inert(name), ' (its arguments were erased)'];
  const all = isObject(found.value) ? Object.entries(found.value) : [];
  const words = all.map(([key, value]) => `${plain(key)} ${plain(value)}`);
  return [inert([name, words.join(', ')].filter((text) => text !== '').join(': '))];
}

const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N}._:@/+-]*$/u;
const VALUE_MAX = 80;
const QUOTED_MAX = 300;

function plain(value: unknown): string {
  const text = typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
  return short(text, VALUE_MAX);
}

/** A reason. It can be a text of a model. */
function quoted(text: string = ''): readonly Child[] {
  return text === '' ? [] : [': “', inert(short(text, QUOTED_MAX)), '”'];
}

function short(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** The agent that proposed: the subject of its writ. */
function agentOf(
  writId: string | undefined,
  { trajectory_id: trajectory }: Entry['payload'],
  { part }: Content,
): readonly Child[] {
  const writ = writId === undefined ? undefined : part.writ(writId, trajectory);
  const subject = isObject(writ) ? writ['subject'] : undefined;
  return typeof subject === 'string' ? [' for ', inert(subject)] : [];
}

function at(id: string, instant: string, { part }: Content): HTMLElement {
  return element('span', { class: 'dim' }, ...[' ', time(instant), ', ', nameOfEntry(id, part)]);
}
