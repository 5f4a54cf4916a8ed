/**
 * A walk of the life cycle (Agentic Redux §2.3). Every proposal of a small set is tried in every
 * reachable state, up to a depth. The kernel's answer is compared with an oracle's. The oracle
 * follows the policy's sentences over a few plain values per vulnerability, and has no rows,
 * footprints, phases or rules.
 */
import { addMicros } from 'assize/internal/canon';
import {
  type Authority,
  adjudicate,
  type Intent,
  initialState,
  type PatchOperation,
  World,
} from 'assize/internal/kernel';
import { rfc6902 } from '../../../../tests/support/models/naive-patch.ts';
import { ROLE_OF } from '../actions.ts';
import { type DisclosureState, disclosure } from '../index.ts';
import { roles } from '../processes.ts';
import { addDays } from '../time.ts';
import { type ActionName, committed, DIGEST, START } from './office.ts';

/** The policy's answer: allowed, allowed with a coordinator's approval, or refused. */
export type Answer = 'yes' | 'ask' | 'no';

/** A vulnerability in the oracle's terms. Days are numbers. */
export interface Thing {
  readonly triaged?: true;
  readonly reported?: number;
  readonly receipt?: true;
  /** The last day of its embargo, and the days of unapproved extensions. */
  readonly until?: number;
  readonly extended?: number;
  /** The review of the latest patch, if there is one, and whether the patch is released. */
  readonly patch?: 'unseen' | 'robust' | 'wanting';
  readonly released?: true;
  /** Some earlier patch was released. */
  readonly released0?: true;
  /** Publicly known, and whether that was before any other disclosure. */
  readonly public?: 'first' | 'late';
  /** Whether its commitment is open: the day of the opening. */
  readonly committed?: 'closed' | number;
  readonly cve?: true;
  readonly joined?: true;
  readonly record?: { readonly says: 'link' | 'why' | 'neither'; readonly cve: boolean };
  readonly disclosed?: number;
}

export interface Model {
  readonly today: number;
  readonly things: Readonly<Record<string, Thing>>;
}

export interface Move {
  readonly action: ActionName | 'wait';
  readonly v: string;
  readonly args?: unknown;
  /** The policy's answer, and the vulnerability's values afterwards. */
  readonly says: (model: Model, thing: Thing) => Answer;
  readonly after: (model: Model, thing: Thing) => Thing;
  readonly days?: number;
}

const PLANNED = START;
const REPLY = 7;
const FREE_DAYS = 14;
const CVE = 'CVE-2026-1000';
const LINK = 'https://acme/fix';
const ORGANISATION: Readonly<Record<string, string>> = { a: 'acme', b: 'beta' };
/** The group of all joint disclosures. */
const GROUP = 'g';

const when = (is: unknown, answer: Answer = 'yes'): Answer => (is ? answer : 'no');
const over = ({ today }: Model, { until }: Thing): boolean => until !== undefined && until <= today;
const released = (thing: Thing): boolean => thing.released === true || thing.released0 === true;
const fixed = ({ patch, released }: Thing): boolean => patch === 'robust' && released === true;

/** Whether only its record is missing for a disclosure today. */
function isFree(model: Model, thing: Thing): boolean {
  if (thing.public) return true;
  const why = thing.record?.says === 'why';
  return over(model, thing) && (released(thing) || why) && (fixed(thing) || why);
}

function isComplete(thing: Thing): boolean {
  const { record } = thing;
  if (record === undefined || thing.committed === 'closed' || record.cve !== (thing.cve === true))
    return false;
  return record.says === 'link' ? released(thing) : record.says === 'why' && !fixed(thing);
}

function mayDisclose(model: Model, v: string): boolean {
  const thing = model.things[v] as Thing;
  if (!thing.joined || thing.disclosed !== undefined || !isFree(model, thing) || !isComplete(thing))
    return false;
  const peers = Object.entries(model.things).filter(([other, peer]) => other !== v && peer.joined);
  return peers.every(
    ([, peer]) =>
      peer.disclosed !== undefined ||
      (peer.record !== undefined &&
        (peer.until !== undefined || peer.public !== undefined) &&
        isFree(model, peer)),
  );
}

/**
 * Whether a member of the group would be disclosed although this one could not be disclosed with
 * it.
 */
function strandsPeers(model: Model, v: string, thing: Thing): boolean {
  const peers = Object.entries(model.things).filter(([other, peer]) => other !== v && peer.joined);
  return peers.some(([, { disclosed }]) => {
    if (disclosed === undefined || !thing.joined || thing.disclosed !== undefined) return false;
    const that = { ...model, today: disclosed };
    const { public: known, ...unknown } = thing;
    return thing.record === undefined || !isFree(that, known === 'first' ? thing : unknown);
  });
}

export function movesOf(v: string): Readonly<Record<string, Move>> {
  const action = (
    name: ActionName,
    args: unknown,
    says: Move['says'],
    after: Move['after'],
  ): Move => ({
    action: name,
    v,
    args,
    says,
    after,
  });
  const { publish, resolve } = committed(v);
  const readiness = (says: 'link' | 'why' | 'neither', named: boolean): Move =>
    action(
      'assert_readiness',
      {
        ...(says === 'link'
          ? { patch_link: LINK }
          : says === 'why'
            ? { patch_unavailable: 'they do not answer' }
            : {}),
        cves: named ? [CVE] : [],
        attribution: ['Ann'],
      },
      (model, it) => {
        const after = { ...it, record: { says, cve: named } };
        return when(
          it.joined &&
            it.disclosed === undefined &&
            (!named || it.cve) &&
            !strandsPeers(model, v, after),
        );
      },
      (_, it) => ({ ...it, record: { says, cve: named } }),
    );
  return {
    triage: action(
      'triage_vulnerability',
      { note: 'it is ours to report' },
      (_, it) => when(!it.triaged && it.reported === undefined && it.disclosed === undefined),
      (_, it) => ({ ...it, triaged: true }),
    ),
    report: action(
      'submit_report',
      { digest: DIGEST },
      (_, it) => when(it.reported === undefined),
      ({ today }, it) => ({ ...it, reported: today }),
    ),
    receipt: action(
      'acknowledge_report',
      { reference: 'ticket' },
      (_, it) => when(it.reported !== undefined && !it.receipt),
      (_, it) => ({ ...it, receipt: true }),
    ),
    embargo: action(
      'begin_embargo',
      { regime: 'standard' },
      ({ today }, { reported, until, receipt }) =>
        when(
          reported !== undefined && until === undefined && (receipt || today >= reported + REPLY),
        ),
      (_, it) => ({ ...it, until: (it.reported as number) + 90 }),
    ),
    extend: action(
      'extend_embargo',
      { days: 10, reason: 'asked for' },
      (model, it) => {
        const after = { ...it, until: (it.until ?? 0) + 10 };
        if (it.until === undefined || it.disclosed !== undefined || strandsPeers(model, v, after))
          return 'no';
        // An opened artifact cannot be withheld until a later day.
        if (typeof it.committed === 'number' && !it.public && it.committed < after.until)
          return 'no';
        return (it.extended ?? 0) + 10 > FREE_DAYS ? 'ask' : 'yes';
      },
      (_, it) => {
        const extended = (it.extended ?? 0) + 10;
        return {
          ...it,
          until: (it.until as number) + 10,
          extended: extended > FREE_DAYS ? 0 : extended,
        };
      },
    ),
    develop: action(
      'observe_patch',
      { kind: 'commit', reference: LINK },
      (_, it) => when(it.patch === undefined || it.patch === 'wanting'),
      (_, { released, ...it }) => ({
        ...it,
        patch: 'unseen',
        ...(released ? { released0: true } : {}),
      }),
    ),
    good: action(
      'review_patch',
      { robust: true, note: 'closes it' },
      (_, it) => when(it.patch === 'unseen'),
      (_, it) => ({ ...it, patch: 'robust' }),
    ),
    bad: action(
      'review_patch',
      { robust: false, note: 'closes half of it' },
      (_, it) => when(it.patch === 'unseen'),
      (_, it) => ({ ...it, patch: 'wanting' }),
    ),
    release: action(
      'observe_release',
      { kind: 'release', reference: 'acme 1.2' },
      (_, it) => when(it.patch !== undefined && !it.released),
      (_, it) => ({ ...it, released: true }),
    ),
    leak: action(
      'observe_publication',
      { status: 'publicly-known', reference: 'https://blog' },
      (_, it) => when(!it.public, 'ask'),
      ({ things }, it) => {
        const isFirst = Object.values(things).every(({ disclosed }) => disclosed === undefined);
        return { ...it, public: isFirst ? 'first' : 'late' };
      },
    ),
    cve: action(
      'observe_cve',
      { cve: CVE, source: 'assigned' },
      ({ things }) => when(Object.values(things).every(({ cve }) => !cve)),
      (_, it) => ({ ...it, cve: true }),
    ),
    commit: action(
      'publish_commitment',
      publish,
      (_, it) => when(it.committed === undefined),
      (_, it) => ({ ...it, committed: 'closed' }),
    ),
    open: action(
      'resolve_commitment',
      resolve,
      (model, it) =>
        when(
          it.committed === 'closed' && (it.disclosed !== undefined || it.public || over(model, it)),
        ),
      ({ today }, it) => ({ ...it, committed: today }),
    ),
    join: action(
      'join_group',
      { planned_at: PLANNED },
      (model, it) => when(!it.joined && !strandsPeers(model, v, { ...it, joined: true })),
      (_, it) => ({ ...it, joined: true }),
    ),
    leave: action(
      'leave_group',
      { reason: 'alone' },
      (_, it) => when(it.joined && it.disclosed === undefined, 'ask'),
      (_, { joined, record, ...it }) => it,
    ),
    'say where the patch is': readiness('link', false),
    'say where the patch is, and the CVE': readiness('link', true),
    'say why there is none': readiness('why', false),
    'say nothing': readiness('neither', false),
    disclose: action(
      'execute_disclosure',
      {},
      (model) => when(mayDisclose(model, v)),
      ({ today }, it) => ({ ...it, disclosed: today }),
    ),
    'wait a week': { action: 'wait', v, days: 7, says: () => 'yes', after: (_, it) => it },
    'wait a month and a half': {
      action: 'wait',
      v,
      days: 45,
      says: () => 'yes',
      after: (_, it) => it,
    },
  };
}

/** A state of the kernel, and the oracle's model of it. */
export interface Node {
  readonly state: DisclosureState;
  readonly model: Model;
  /** The moves that led to it. */
  readonly path: readonly string[];
}

export interface Walked {
  readonly states: number;
  readonly transitions: Readonly<Record<Answer, number>>;
  readonly disclosures: number;
  /** The places in which kernel and oracle disagree. */
  readonly disagreements: readonly string[];
}

const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/** The result of a list of moves. All of them must be accepted. */
export function reached(start: Node, moves: readonly (readonly [string, Move])[]): Node {
  return moves.reduce((node, [name, move]) => {
    const { answer, next } = tried(worldOf(node), node, name, move);
    if (answer !== 'yes' || next === undefined) throw new Error(`${name} is not possible there`);
    return next;
  }, start);
}

/**
 * Every move in every state, until no new state is found within the depth. States that are equal
 * for the oracle count as one.
 */
export function walk(start: Node, depth: number, moves: Readonly<Record<string, Move>>): Walked {
  const seen = new Set([JSON.stringify(start.model)]);
  const transitions = { yes: 0, ask: 0, no: 0 };
  const disagreements: string[] = [];
  let disclosures = 0;
  let level = [start];
  for (let step = 0; step < depth && level.length > 0; step++) {
    const following: Node[] = [];
    for (const node of level) {
      const world = worldOf(node);
      for (const [name, move] of Object.entries(moves)) {
        const due = move.says(node.model, node.model.things[move.v] as Thing);
        const { answer, next, why } = tried(
          world,
          node,
          name,
          move,
          ({ model }) => !seen.has(JSON.stringify(model)),
        );
        transitions[answer]++;
        if (answer !== due)
          disagreements.push(`${[...node.path, name].join(' > ')}: ${answer} (${why}), not ${due}`);
        if (answer === 'no' || answer !== due) continue;
        if (move.action === 'execute_disclosure') disclosures++;
        if (next === undefined) continue;
        seen.add(JSON.stringify(next.model));
        following.push(next);
      }
    }
    level = following;
  }
  return { states: seen.size, transitions, disclosures, disagreements };
}

function worldOf({ state }: Node): World {
  return new World(disclosure as never, initialState(disclosure as never, state));
}

/**
 * The kernel's answer to a move, and the next state if requested (this takes longer). A coordinator
 * approves every escalation.
 */
function tried(
  world: World,
  node: Node,
  name: string,
  move: Move,
  isWanted: (next: Pick<Node, 'model'>) => boolean = () => true,
): { answer: Answer; next: Node | undefined; why: string } {
  const { action, v, days = 0 } = move;
  const path = [...node.path, name];
  if (action === 'wait') {
    const next = {
      state: node.state,
      model: { ...node.model, today: node.model.today + days },
      path,
    };
    return { answer: 'yes', next: isWanted(next) ? next : undefined, why: '' };
  }
  const model = modelAfter(node.model, move);
  const intent = {
    action,
    role: { name: ROLE_OF[action], params: paramsOf(action, v) },
    args: argsOf(node, move),
  };
  // One minute per step, so that no two events share an instant.
  const at = addMicros(addDays(START, node.model.today), path.length * 60_000_000);
  const ruling = adjudicate(world, intent as unknown as Intent, ANYONE, { at, observations: [] });
  if (ruling.verdict === 'rejected')
    return { answer: 'no', next: undefined, why: ruling.invariantId ?? ruling.detail };
  const made = (operations: readonly unknown[]): Node => ({
    state: rfc6902(node.state as never, operations as never) as unknown as DisclosureState,
    model,
    path,
  });
  let next: Node | undefined;
  if (ruling.verdict === 'approved') {
    // Before the undo: that also reverts the data of the patches.
    if (isWanted({ model })) next = made(ruling.patches());
    ruling.undo();
  } else if (isWanted({ model }))
    next = made([...ruling.patches, ...ruling.approval.map(byCoordinator)]);
  return { answer: ruling.verdict === 'approved' ? 'yes' : 'ask', next, why: '' };
}

function modelAfter(model: Model, { v, after }: Move): Model {
  return {
    ...model,
    things: { ...model.things, [v]: sorted(after(model, model.things[v] as Thing)) },
  };
}

/** In one order, so that equal values have the same text. */
function sorted(thing: Thing): Thing {
  return Object.fromEntries(Object.entries(thing).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function paramsOf(action: ActionName, v: string): Record<string, string> {
  const organisation = ORGANISATION[v] as string;
  const role = ROLE_OF[action];
  const agent =
    role === 'CommitmentManagement' ? `keeper@${organisation}` : `tracker@${organisation}`;
  const all: Record<string, string> = {
    organisation,
    maintainer: 'kernel',
    agent,
    group: GROUP,
    vulnerability: v,
  };
  return Object.fromEntries(roles[role].params.map((param) => [param, all[param] as string]));
}

function argsOf({ model }: Node, { action, v, args }: Move): unknown {
  if (action !== 'execute_disclosure') return args;
  return { resolved: model.things[v]?.committed === undefined ? [] : [committed(v).hash] };
}

function byCoordinator(operation: PatchOperation): PatchOperation {
  return JSON.parse(
    JSON.stringify(operation).replaceAll('$counselor', 'coordinator:grace'),
  ) as PatchOperation;
}
