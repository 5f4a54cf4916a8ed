import { MemoryStore } from '@assize/testing/memory';
import type { Writ } from '#authority';
import { canonicalize, type Instant } from '#canon';
import type { Domain } from '#kernel';
import {
  domainFrom,
  type EntryRow,
  type Hash,
  isHalt,
  type PendingPayload,
  Replayer,
} from '#ledger';
import { seededRandom } from '#oracle';
import { deepReplay } from '#replay';
import {
  type Assize,
  type ListedWrit,
  listWrits,
  type Ruling,
  type Upgrade,
  verifyStore,
} from '#runtime';
import { HandClock, runtimeOver, writFor } from '../../ledger/runtime.ts';
import { Steps, storeOf } from '../../tools/effect-sink.ts';
import { payloadOf } from '../schedule.ts';
import { Bank } from './bank.ts';
import { type Asked, actionIn, carryOut, type Deed, optionsOf, type Upgraded } from './deeds.ts';
import { domainOf, toolsOver } from './domain.ts';
import type { Action, Call } from './naive.ts';
import {
  type Act,
  AGENTS,
  type Ask,
  DECIDERS,
  type Decide,
  type DrawnAction,
  type Schedule,
  type Step,
  type Upgrading,
} from './schedule.ts';
import { START, type Version } from './versions.ts';

// Plays a schedule through the real runtime: two processes over one store and one bank.

/** Undefined: the process ended before it answered. */
export type Outcome = Ruling | Upgrade | Error | undefined;

export interface Done {
  readonly trajectory: string;
  readonly at: Instant;
  readonly deed: Deed;
  readonly outcome: Outcome;
}

/** A trajectory as a process has it in memory, after an entry of its own. */
export interface View {
  readonly trajectory: string;
  readonly at: Instant;
  readonly head: Hash;
  readonly state: string;
  readonly pending: readonly Hash[];
  readonly isHalted: boolean;
  readonly version: string;
}

export type Rows = ReadonlyMap<string, readonly EntryRow[]>;

/** One step, with all entries before and after it. */
export interface Happening {
  readonly step: Step;
  readonly before: Rows;
  readonly after: Rows;
  readonly done: readonly Done[];
  readonly views: readonly View[];
}

export interface Played {
  readonly schedule: Schedule;
  readonly domains: readonly Domain[];
  readonly happenings: readonly Happening[];
  readonly rows: Rows;
  readonly store: MemoryStore;
  /** The recorded calls of each entry that has some, by the keys of their effects. */
  readonly calls: ReadonlyMap<Hash, readonly (Call & { readonly key: Hash })[]>;
  readonly bank: Bank;
  /** The faults and differences that the verifiers find. */
  readonly faults: readonly unknown[];
  readonly differences: readonly unknown[];
  readonly writs: ReadonlyMap<string, readonly ListedWrit[]>;
  /** Of a process that opened everything at the end. */
  readonly reopened: readonly View[];
  readonly unresolved: number;
}

export async function play(schedule: Schedule): Promise<Played> {
  const stage = new Stage(schedule);
  await stage.begin();
  for (const step of schedule.steps) await stage.play(step);
  return stage.end();
}

/** Longer than a test takes: a process is silent only when it has ended. */
const LEASE_MS = 2 ** 30;
const APPROVAL_MS = 60_000;
const OPEN_MAX = 4;
const TRAJECTORIES_MAX = 3;
/** The budget of each writ that has one. */
export const BUDGET = { cents: 150 };

class Stage {
  readonly #schedule: Schedule;
  readonly #store = new MemoryStore({ shared: true });
  readonly #bank: Bank;
  readonly #clock = new HandClock();
  readonly #domains: readonly Domain[];
  readonly #trajectories: string[] = [];
  readonly #processes: Process[] = [];
  readonly #happenings: Happening[] = [];
  readonly #keyed: { readonly asked: Asked; readonly agent: number }[] = [];
  readonly #generations = new Map<string, number>();
  #rows: Rows = new Map();
  #refs = 0;
  #started = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#domains = schedule.versions.map(domainOf);
    this.#bank = new Bank(schedule.faults);
  }

  async begin(): Promise<void> {
    this.#processes.push(this.#start(), this.#start());
    this.#trajectories.push('t');
    await this.#at(0).assize.create(this.#domains[0] as Domain, {
      trajectoryId: 't',
      initial: START,
    });
    this.#rows = await this.#read();
  }

  #start(): Process {
    const number = this.#started++;
    const steps = new Steps();
    const assize = runtimeOver(storeOf(this.#store, steps), this.#domains, {
      tools: toolsOver(this.#bank, () => steps.step()),
      // One process judges every rule on the whole state.
      strict: number % 2 === 1,
      ports: { clock: this.#clock, random: seededRandom(`process ${number}`) },
      approvals: { timeoutMs: APPROVAL_MS },
      effects: { leaseMs: LEASE_MS, maxAttempts: 20 },
    });
    return { assize, steps };
  }

  #at(process: number): Process {
    return this.#processes[process] as Process;
  }

  async play(step: Step): Promise<void> {
    const before = this.#rows;
    const done = await this.#perform(step);
    this.#rows = await this.#read();
    const views = await Promise.all(this.#processes.map(({ assize }) => this.#viewsOf(assize)));
    this.#happenings.push({ step, before, after: this.#rows, done, views: views.flat() });
  }

  async #perform(step: Step): Promise<Done[]> {
    switch (step.do) {
      case 'act': {
        const deeds = step.acts.map((act) => ({
          act,
          trajectory: this.#trajectoryOf(act),
          deed: this.#deedOf(act),
        }));
        const done = deeds.map(async ({ act, trajectory, deed }) =>
          deed === undefined ? [] : this.#doAll(act, trajectory, deed),
        );
        return (await Promise.all(done)).flat();
      }
      case 'crash': {
        const { act } = step;
        const deed = this.#deedOf(act);
        return deed === undefined
          ? []
          : [await this.#crash(act.process, this.#trajectoryOf(act), deed, step.at)];
      }
      case 'branch':
        return this.#branch(step);
      case 'reopen':
        await this.#at(step.process).assize.close();
        this.#processes[step.process] = this.#start();
        return [];
      case 'wait':
        this.#clock.forward(step.seconds * 1_000);
        return [];
    }
  }

  /** With a partial approval, the approval of the next counselor. */
  async #doAll(act: Act, trajectory: string, deed: Deed): Promise<Done[]> {
    const process = this.#at(act.process);
    const done = await this.#do(process, trajectory, deed);
    const { outcome } = done;
    const isPartial = deed.do === 'approve' && outcome !== undefined && 'pending' in outcome;
    if (!isPartial || act.do !== 'approve' || !act.isFollowed) return [done];
    const principal = DECIDERS[(act.who + 1) % 3] as string;
    return [
      done,
      await this.#do(process, trajectory, { ...deed, pending: outcome.pending, principal }),
    ];
  }

  async #branch({ on, process, back }: Extract<Step, { do: 'branch' }>): Promise<Done[]> {
    if (this.#trajectories.length >= TRAJECTORIES_MAX) return [];
    const source = this.#trajectories[on % this.#trajectories.length] as string;
    const rows = (this.#rows.get(source) ?? []).filter(({ kind }) =>
      ['root', 'branch', 'commit'].includes(kind),
    );
    const entry = (rows[Math.max(rows.length - 1 - back, 0)] as EntryRow).id;
    const trajectory = `b${this.#trajectories.length}`;
    const { assize } = this.#at(process);
    const outcome = await settled(
      assize.branch(source, entry, {
        trajectoryId: trajectory,
        note: 'another way',
        override: true,
      }),
    );
    if (!(outcome instanceof Error)) this.#trajectories.push(trajectory);
    const failed = outcome instanceof Error ? outcome : undefined;
    return [
      { trajectory, at: this.#clock.at, deed: { do: 'branch', source, entry }, outcome: failed },
    ];
  }

  /** The process ends at a step of the deed, and another process takes over its transactions. */
  async #crash(process: number, trajectory: string, deed: Deed, at: number): Promise<Done> {
    const dying = this.#at(process);
    dying.steps.endAfter(at);
    const done = await Promise.race([this.#do(dying, trajectory, deed), dying.steps.ended]);
    dying.steps.endAfter(undefined);
    if (!dying.steps.isDead) return done as Done;
    this.#processes[process] = this.#start();
    await this.#at(process).assize.recoverEffects();
    return { trajectory, at: this.#clock.at, deed, outcome: undefined };
  }

  async #do({ assize }: Process, trajectory: string, deed: Deed): Promise<Done> {
    const at = this.#clock.at;
    if (deed.do === 'upgrade' && deed.isElsewhere)
      return {
        trajectory,
        at,
        deed,
        outcome: await settled(this.#upgradeElsewhere(trajectory, deed)),
      };
    const open = await assize.open(trajectory);
    const from = open.domain.version;
    const outcome = await settled(carryOut(open, deed, this.#domains));
    return { trajectory, at, deed: deed.do === 'upgrade' ? { ...deed, from } : deed, outcome };
  }

  /** Upgrades in a process that has only the new version, and no tools. */
  async #upgradeElsewhere(trajectory: string, deed: Upgraded): Promise<Upgrade> {
    const domain = this.#domains[deed.to.number - 1] as Domain;
    const assize = runtimeOver(this.#store, [domain], { ports: { clock: this.#clock } });
    const upgrade = await settled(assize.upgrade(trajectory, domain, optionsOf(deed)));
    await assize.close();
    if (upgrade instanceof Error) throw upgrade;
    return upgrade;
  }

  #trajectoryOf({ on }: Act): string {
    return this.#trajectories[on % this.#trajectories.length] as string;
  }

  /** Undefined if there is nothing to decide or to repeat. */
  #deedOf(act: Act): Deed | undefined {
    const trajectory = this.#trajectoryOf(act);
    switch (act.do) {
      case 'ask':
        return this.#askedOn(trajectory, act);
      case 'approve':
      case 'reject':
        return this.#decidedOn(trajectory, act);
      case 'upgrade':
        return this.#upgradeOf(trajectory, act);
      case 'revoke':
        return { do: 'revoke', writ: this.#writOf(trajectory, act.agent, 'next') };
      case 'repeat': {
        const { asked, agent } = this.#keyed[act.nth % Math.max(this.#keyed.length, 1)] ?? {};
        return asked && { ...asked, writ: this.#writOf(trajectory, agent as number) };
      }
      default:
        return { do: act.do };
    }
  }

  #askedOn(trajectory: string, { agent, action, key, body, isRevoked }: Ask): Deed {
    const rows = this.#rows.get(trajectory) ?? [];
    // Few proposals meet a halt, or a long queue.
    if (this.#refs % 3 === 0 && isHalted(rows)) return { do: 'resume' };
    const open = openOf(rows);
    if (open.length >= OPEN_MAX)
      return {
        do: 'reject',
        pending: open[0] as Hash,
        digest: undefined,
        principal: 'director-x',
        override: false,
        amended: undefined,
      };
    const ref = this.#refs++;
    const asked: Asked = {
      do: 'ask',
      ref,
      agent: AGENTS[agent] as string,
      writ: this.#writOf(trajectory, agent, isRevoked ? 'last' : 'current'),
      action: numbered(action, ref),
      // A body is named and not keyed.
      key: body === undefined && key !== undefined ? `key ${key}` : undefined,
      body,
    };
    if (asked.key !== undefined) this.#keyed.push({ asked, agent });
    return asked;
  }

  #decidedOn(
    trajectory: string,
    { do: does, nth, who, override, amend }: Decide,
  ): Deed | undefined {
    const rows = this.#rows.get(trajectory) ?? [];
    const open = openOf(rows);
    const gone = rows.findLast(
      ({ kind, id }) => kind === 'pending_approval' && !open.includes(id),
    )?.id;
    const pending = nth === 4 ? gone : open[nth % Math.max(open.length, 1)];
    if (pending === undefined) return undefined;
    const principal = DECIDERS[who] as string;
    const shown = payloadOf(rows.find(({ id }) => id === pending) as EntryRow) as PendingPayload;
    const amended =
      does === 'approve' && amend !== undefined ? amendedAction(shown, amend) : undefined;
    return { do: does, pending, digest: shown.digest, principal, override, amended };
  }

  /** Mostly to another version than the present one. */
  #upgradeOf(trajectory: string, { to, raise, who, dryRun, isElsewhere }: Upgrading): Deed {
    const { versions } = this.#schedule;
    const now = versionIn(this.#rows, trajectory);
    const others = versions.filter(({ number }) => number !== now || dryRun);
    const principal = who === undefined ? undefined : DECIDERS[who];
    const next = others[to % others.length] as Version;
    return { do: 'upgrade', to: next, from: String(now), raise, principal, dryRun, isElsewhere };
  }

  /** `next`: the writ that is revoked now. `last`: the writ that was revoked before. */
  #writOf(trajectory: string, agent: number, which: 'current' | 'last' | 'next' = 'current'): Writ {
    const name = AGENTS[agent] as string;
    // The writ of a manager is for every trajectory, and has no budget.
    const isBound = !name.startsWith('manager');
    const owner = isBound ? `${name} ${trajectory}` : name;
    const now = this.#generations.get(owner) ?? 0;
    if (which === 'next') this.#generations.set(owner, now + 1);
    const nonce = `${owner} ${which === 'last' ? Math.max(now - 1, 0) : now}`;
    return known(nonce, () =>
      writFor(name, {
        nonce,
        ...(isBound ? { trajectory, budget: BUDGET } : {}),
        ...(name === 'bob' ? { require_approval: ['**'] } : {}),
      }),
    );
  }

  async #read(): Promise<Rows> {
    const all = await Promise.all(
      this.#trajectories.map((id) => this.#store.entries(id, { limit: 10_000 })),
    );
    return new Map(this.#trajectories.map((id, i) => [id, all[i] as EntryRow[]]));
  }

  #viewsOf(assize: Assize): Promise<View[]> {
    return Promise.all(
      this.#trajectories.map(async (trajectory) => {
        const open = await assize.open(trajectory);
        return {
          trajectory,
          at: this.#clock.at,
          head: open.head,
          state: canonicalize(open.state()),
          pending: open.approvals.pending().map(({ id }) => id),
          isHalted: open.halted !== undefined,
          version: open.domain.version,
        };
      }),
    );
  }

  async end(): Promise<Played> {
    const unresolved = (await this.#at(0).assize.recoverEffects()).length;
    for (const { assize } of this.#processes) await assize.close();
    const rows = await this.#read();
    const last = this.#start();
    const reopened = await this.#viewsOf(last.assize);
    await last.assize.close();
    const verified = await verifyStore(this.#store);
    const replayed = await Promise.all(
      this.#trajectories.map((id) => deepReplay(this.#store, id, { domains: this.#domains })),
    );
    const listed = await Promise.all(
      this.#trajectories.map(async (id) => [id, await listWrits(this.#store, id)] as const),
    );
    return {
      schedule: this.#schedule,
      domains: this.#domains,
      happenings: this.#happenings,
      rows,
      store: this.#store,
      calls: await callsIn(this.#store, rows),
      bank: this.#bank,
      faults: verified.flatMap(({ fault }) => fault ?? []),
      differences: replayed.flatMap(({ differences }) => differences),
      writs: new Map(listed),
      reopened,
      unresolved,
    };
  }
}

interface Process {
  readonly assize: Assize;
  readonly steps: Steps;
}

/** A signature takes longer than a step. */
function known(nonce: string, make: () => Writ): Writ {
  let writ = WRITS.get(nonce);
  if (writ === undefined) {
    writ = make();
    WRITS.set(nonce, writ);
  }
  return writ;
}

const WRITS = new Map<string, Writ>();

async function settled<T>(promise: Promise<T>): Promise<T | Error> {
  try {
    return await promise;
  } catch (error) {
    return error as Error;
  }
}

function numbered(action: DrawnAction, ref: number): Action {
  return (
    action.name === 'note'
      ? { ...action, args: { ref } }
      : { ...action, args: { ...action.args, ref } }
  ) as Action;
}

function amendedAction(
  shown: PendingPayload,
  { cents, person }: NonNullable<Decide['amend']>,
): Action {
  const action = actionIn(shown.proposal.action);
  switch (action.name) {
    case 'pay':
      return { ...action, args: { ...action.args, cents } };
    case 'note':
      return { ...action, who: person };
    case 'plan':
      return { ...action, args: { ref: action.args.ref, to: person, most: cents * 4 } };
    case 'drop':
      return { ...action, args: { ...action.args, id: cents % 2 === 0 ? 'a' : 'b' } };
  }
}

function isHalted(rows: readonly EntryRow[]): boolean {
  const last = rows.map(payloadOf).findLast((payload) => isHalt(payload));
  return last !== undefined && isHalt(last) && last.action.args.does === 'halt';
}

/** The number of the version in force. */
function versionIn(rows: Rows, trajectory: string): number {
  const domains = (rows.get(trajectory) ?? []).flatMap((row) => domainFrom(payloadOf(row)) ?? []);
  return Number(domains.at(-1)?.version);
}

/** The proposals of entries that no later entry resolves, oldest first. */
function openOf(rows: readonly EntryRow[]): Hash[] {
  const open = new Set<Hash>();
  for (const row of rows) {
    const payload = payloadOf(row);
    if ('resolves' in payload && payload.resolves !== undefined) open.delete(payload.resolves);
    if (payload.kind === 'pending_approval') open.add(row.id);
  }
  return [...open];
}

async function callsIn(store: MemoryStore, rows: Rows): Promise<Played['calls']> {
  const { values } = new Replayer(store);
  const calls = new Map<Hash, (Call & { key: Hash })[]>();
  for (const row of [...rows.values()].flat()) {
    const payload = payloadOf(row);
    const delta =
      payload.kind === 'commit'
        ? payload.delta
        : payload.kind === 'pending_approval'
          ? payload.proposal.delta
          : undefined;
    if (delta === undefined || delta.effects.length === 0) continue;
    const read = delta.effects.map(async ({ id, effect }) => {
      const held = await values.read(
        { trajectory_id: row.trajectory_id, seq: row.seq } as never,
        effect as never,
      );
      const { tool, input } = (held as { value: Call }).value;
      return { key: id, tool, input };
    });
    calls.set(row.id, await Promise.all(read));
  }
  return calls;
}
