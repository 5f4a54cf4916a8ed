import { addMicros } from 'assize/internal/canon';
import { matchesSome } from '../names.ts';
import { ruleText } from '../rule-text.ts';
import type { CallRow, GatewayState, Turn } from '../schema.ts';
import { type Applied, compiledRules } from './compiled-rules.ts';
import { mayBeUnder } from './path-name.ts';

/**
 * Runs take turns at the places that their tools read and write, where `turns` of the rules says
 * so (Atomix, sections 4.2 and 4.3: conflicting transactions are ordered by a frontier for each
 * scope). A run holds a place from its first call there until it ends. No two runs wait for each
 * other: a run that holds a place waits only for runs that began later.
 */

/** The reason why a call cannot start now. */
export interface NoTurn {
  /**
   * `waiting`: it can start when the other run ends. `restart`: its run must end first, because
   * an earlier run holds the place. `lost`: the run was silent too long, and must end.
   */
  readonly kind: 'waiting' | 'restart' | 'lost';
  readonly of: Applied;
}

type Waiting = Pick<CallRow, 'agent' | 'tool' | 'parts' | 'reads' | 'writes' | 'session'>;

const MINUTES = 10;
const MINUTE_MICROS = 60_000_000;

/** The reason why another run must end before a call starts. Undefined: the call has its turn. */
export function turnOf(state: GatewayState, row: Waiting, now: string): NoTurn | undefined {
  const run = row.session && runOf(state, row.session);
  const { turns = {} } = state;
  const own = run === undefined ? undefined : turns[run];
  for (const { rule, minutes, because, places } of wantedBy(state, row, now)) {
    const no = (kind: NoTurn['kind'], why: string): NoTurn => ({ kind, of: { rule, why } });
    if (own?.lostTo !== undefined)
      return no(
        'lost',
        `the run was silent too long, and ${own.lostTo} has its turn; start the run again`,
      );
    for (const [other, turn] of Object.entries(turns)) {
      if (other === run || turn.lostTo !== undefined || isSilent(turn, minutes, now)) continue;
      const place = places.find((wanted) => turn.places.some((held) => meet(held, wanted)));
      if (place === undefined) continue;
      const at = place.slice(place.indexOf('|') + 1);
      const held = `the run ${other} holds ${at === '/' ? 'the turn' : at} until it ends`;
      const isEarlier = own !== undefined && own.places.length > 0 && isBefore(other, run!, turns);
      return isEarlier
        ? no('restart', `${held}, and it began earlier; end this run and start it again`)
        : no('waiting', because ?? held);
    }
  }
  return undefined;
}

/**
 * Takes the places of a call for its run. Runs that were silent too long lose theirs.
 *
 * @throws Error if another run holds one
 */
export function takeTurn(state: GatewayState, row: Waiting, at: string): void {
  const wanted = wantedBy(state, row, at);
  if (wanted.length === 0) return;
  const problem = turnOf(state, row, at);
  if (problem !== undefined) throw new Error(ruleText(problem.of.rule, problem.of.why));
  const run = row.session && runOf(state, row.session);
  const places = wanted.flatMap((each) => each.places);
  state.turns ??= {};
  for (const [other, turn] of Object.entries(state.turns))
    if (other !== run && turn.places.some((held) => places.some((place) => meet(held, place))))
      turn.lostTo = run ?? row.tool;
  if (run === undefined) return;
  const own = state.turns[run];
  state.turns[run] = {
    since: own?.since ?? at,
    at,
    places: [...new Set([...(own?.places ?? []), ...places])].sort(),
  };
}

interface Wanted {
  readonly rule: string;
  readonly minutes: number;
  readonly because: string | undefined;
  /** `rule|path`. Of a call without a path, the path is `/`. */
  readonly places: readonly string[];
}

function wantedBy(
  { rules: { text } }: GatewayState,
  { agent, tool, parts, reads, writes }: Waiting,
  at: string,
): readonly Wanted[] {
  const { turns = [] } = compiledRules(text).acting({ agent, at }).rules;
  const paths = [...reads, ...writes];
  return turns
    .filter(({ tools }) => [tool, ...(parts ?? [])].some((name) => matchesSome(tools, name)))
    .map(({ id, minutes = MINUTES, because }) => ({
      rule: id,
      minutes,
      because,
      places: (paths.length === 0 ? ['/'] : paths).map((path) => `${id}|${path}`),
    }));
}

/** Whether one place is the other, or below it, by the same rule. */
function meet(one: string, other: string): boolean {
  const [rule, path] = split(one);
  const [otherRule, otherPath] = split(other);
  return rule === otherRule && (mayBeUnder(path, otherPath) || mayBeUnder(otherPath, path));
}

function split(place: string): readonly [rule: string, path: string] {
  const bar = place.indexOf('|');
  return [place.slice(0, bar), place.slice(bar + 1)];
}

function isSilent({ at }: { readonly at: string }, minutes: number, now: string): boolean {
  return addMicros(at, Math.round(minutes * MINUTE_MICROS)) < now;
}

/** Whether a run took its first place before another one. */
function isBefore(one: string, other: string, turns: Readonly<Record<string, Turn>>): boolean {
  const [a, b] = [turns[one]!.since, turns[other]!.since];
  return a === b ? one < other : a < b;
}

/** The session that started the others: subagents work in the run of their agent. */
export function runOf({ sessions }: Pick<GatewayState, 'sessions'>, session: string): string {
  let run = session;
  for (let above = 0; above < 16; above++) {
    const parent = sessions[run]?.parent;
    if (parent === undefined) break;
    run = parent;
  }
  return run;
}
