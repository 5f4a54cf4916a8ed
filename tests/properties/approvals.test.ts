/**
 * Every escalation is resolved at most once. The required number of different approvers resolve it,
 * and none of them is a requester. Each step is chained to the entry that it continues. The
 * schedules are generated, with two processes that crash. The model knows nothing of entries, heads
 * or digests.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CommitPayload, EntryRow, Payload, PendingPayload, RejectionPayload } from '#ledger';
import { seededRandom } from '#oracle';
import { deepReplay } from '#replay';
import type { Ruling, Trajectory } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { allEntries, type Fault, FaultyStore, soundState } from '../support/ledger/desk.ts';
import { severalOf } from '../support/ledger/multi-approval.ts';
import { HandClock, intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

/**
 * Two spellings of one name. The requester is also a counselor, and a clerk belongs to another
 * channel.
 */
const PEOPLE = ['dr-a', 'dr-b', 'dr-c', 'dr-\u00e9', 'dr-e\u0301', 'dr-asker', 'clerk-x', 'nobody'];
const asker = writFor('dr-asker');
const EXPIRES_MS = 60_000;

type Act =
  | { readonly do: 'ask'; readonly amount: number }
  | { readonly do: 'add'; readonly amount: number }
  | {
      readonly do: 'approve';
      readonly nth: number;
      readonly who: number;
      readonly override: boolean;
    }
  | { readonly do: 'reject'; readonly nth: number; readonly who: number };

type Step =
  | { readonly do: 'act'; readonly process: 0 | 1; readonly act: Act; readonly fault: Fault }
  /** Concurrently, in both processes. */
  | { readonly do: 'race'; readonly acts: readonly [Act, Act] }
  | { readonly do: 'crash'; readonly process: 0 | 1 }
  | { readonly do: 'wait'; readonly ms: number };

const who = fc.nat(PEOPLE.length - 1);
/** The target of a step, usually the newest pending proposal: `nth` counts from the newest id. */
const nth = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(5));
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      amount: fc.integer({ min: 1, max: 90 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      amount: fc.integer({ min: -3, max: 6 }),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({ do: fc.constant('approve' as const), nth, who, override: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reject' as const), nth, who }) },
);
const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fault>('none') },
  fc.constantFrom<Fault[]>(
    'conflict',
    'unknown, lost',
    'unknown, written',
    'thrown, lost',
    'thrown, written',
  ),
);
const process = fc.constantFrom(0 as const, 1 as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('act' as const), process, act, fault }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('race' as const), acts: fc.tuple(act, act) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), process }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(
        fc.integer({ min: 1, max: 40_000 }),
        fc.integer({ min: EXPIRES_MS, max: 2 * EXPIRES_MS }),
      ),
    }),
  },
);

/** One escalation, as the model has it. */
interface Asked {
  readonly amount: number;
  readonly expires: number;
  /** The approvers, each by the one normalized form of the name. */
  readonly by: string[];
  ended: 'no' | 'committed' | 'counselor_rejected' | 'expired';
}

/** The state that the model knows without any ledger. */
interface Model {
  now: number;
  n: number;
  asked: number;
  all: Asked[];
}

function end({ all }: Model, index: number, how: Asked['ended']): void {
  (all[index] as Asked).ended = how;
}

/** The answer to an act. */
type Outcome = string;

class Oracle {
  readonly needed: number;
  readonly freeze: 'world' | 'footprint';

  constructor(needed: number, freeze: 'world' | 'footprint') {
    this.needed = needed;
    this.freeze = freeze;
  }

  /**
   * Applies the act to the model, under a fault at its first commit. `which` names the escalation
   * and its step.
   */
  run(model: Model, act: Act, which: readonly [number, number] | undefined, fault: Fault): Outcome {
    const commits: (() => void)[] = [];
    const outcome = this.#plan(
      structuredClone(model),
      act,
      which,
      (commit) => commits.push(commit),
      model,
    );
    const [first, ...rest] = commits;
    if (first === undefined) return outcome;
    if (fault.endsWith('lost')) return 'lost';
    first();
    if (fault === 'thrown, written') return 'lost';
    for (const commit of rest) commit();
    return outcome;
  }

  #plan(
    seen: Model,
    act: Act,
    which: readonly [number, number] | undefined,
    commit: (apply: () => void) => void,
    model: Model,
  ): Outcome {
    const both = (change: (model: Model) => void): void => {
      change(seen);
      commit(() => change(model));
    };
    if (act.do === 'ask' || act.do === 'add') {
      for (const [i, one] of seen.all.entries())
        if (one.ended === 'no' && seen.now >= one.expires) both((to) => end(to, i, 'expired'));
      const frozen =
        seen.all.some(({ ended }) => ended === 'no') &&
        (this.freeze === 'world' || act.do === 'ask');
      if (frozen) return 'frozen';
      if (act.do === 'ask') {
        const { amount } = act;
        both(
          (to) => void to.all.push({ amount, expires: to.now + EXPIRES_MS, by: [], ended: 'no' }),
        );
        return 'escalated 0';
      }
      const passes = seen.n + act.amount <= 10 && seen.asked <= 100;
      both((to) => {
        to.n += passes ? act.amount : 0;
      });
      return passes ? 'committed' : 'invariant_rejected';
    }
    const [index, at] = which ?? [-1, -1];
    const one = seen.all[index];
    if (one === undefined || one.ended !== 'no' || at !== one.by.length) return 'not_pending';
    const ends = (ended: Asked['ended']): Outcome => {
      both((to) => end(to, index, ended));
      return ended;
    };
    if (seen.now >= one.expires) return ends('expired');
    const person = (PEOPLE[act.who] as string).normalize('NFC');
    if (!person.startsWith('dr-') || person === 'dr-asker') return 'unauthorised_counselor';
    if (act.do === 'reject') return ends('counselor_rejected');
    if (one.by.includes(person)) return 'already_approved';
    if (seen.asked + one.amount > 100 && !act.override) return 'override_needed';
    both((to) => {
      (to.all[index] as Asked).by.push(person);
      if ((to.all[index] as Asked).by.length < this.needed) return;
      to.asked += one.amount;
      end(to, index, 'committed');
    });
    return one.by.length < this.needed ? `escalated ${one.by.length}` : 'committed';
  }
}

const nameOf = (answer: Ruling | Error): Outcome => {
  if (answer instanceof Error) {
    const code = (answer as { code?: string }).code;
    return code === undefined || code === 'commit_unknown' ? 'lost' : code;
  }
  if (answer.ruling === 'escalated') return `escalated ${answer.approvedBy?.length ?? 0}`;
  return answer.ruling === 'rejected' ? answer.reason : answer.ruling;
};

interface Possible {
  readonly said: readonly Outcome[];
  readonly after: Model;
}

function sightOf(
  { n, asked }: Pick<Model, 'n' | 'asked'>,
  lengths: readonly number[],
  areOpen: readonly boolean[],
): string {
  return JSON.stringify([n, asked, lengths, areOpen]);
}

/** Under how many ids each escalation has waited. */
function lengthsOf({ all }: Model): number[] {
  return all.map(({ by, ended }) => 1 + by.length - (ended === 'committed' ? 1 : 0));
}

/** The ids under which each escalation waited, in turn. */
function idsOf(rows: readonly EntryRow[]): string[][] {
  const all: string[][] = [];
  for (const { id, payload } of rows) {
    const { kind, resolves } = JSON.parse(payload) as { kind: string; resolves?: string };
    if (kind !== 'pending_approval') continue;
    if (resolves === undefined) all.push([id]);
    else all.find((ids) => ids.includes(resolves))?.push(id);
  }
  return all;
}

/** Whether each of them still waits. */
function areOpen(rows: readonly EntryRow[]): boolean[] {
  const resolved = new Set(
    rows.map(({ payload }) => (JSON.parse(payload) as { resolves?: string }).resolves),
  );
  return idsOf(rows).map((ids) => !resolved.has(ids.at(-1)));
}

/** Checks the property from the entries alone. */
function checkLedger(rows: readonly EntryRow[], needed: number): void {
  const payloads = rows.map(({ id, payload }) => ({ id, ...(JSON.parse(payload) as Payload) }));
  const resolving = payloads.flatMap((one) =>
    'resolves' in one && one.resolves !== undefined ? [one] : [],
  );
  expect(new Set(resolving.map(({ resolves }) => resolves)).size).toBe(resolving.length);
  const pendings = new Map(
    payloads.flatMap((one) => (one.kind === 'pending_approval' ? [[one.id, one] as const] : [])),
  );
  for (const one of resolving as ((CommitPayload | RejectionPayload | PendingPayload) & {
    id: string;
  })[]) {
    const before = pendings.get(one.resolves as string) as PendingPayload;
    expect(before.seq).toBeLessThan(one.seq);
    const given = [...(before.approved_by ?? [])];
    if (one.kind === 'pending_approval') {
      expect(one.digest).toBe(before.digest);
      expect(one.proposal).toEqual(before.proposal);
      expect(one.approved_by?.slice(0, -1)).toEqual(given);
    }
    if (one.kind === 'rejection') continue;
    if (one.kind === 'commit') given.push(one.counselor as never);
    else given.push(one.approved_by?.at(-1) as never);
    const names = given.map(({ principal }) => principal.normalize('NFC'));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^dr-(?!asker)/);
    if (one.kind === 'commit') expect(names).toHaveLength(needed);
  }
}

async function play(
  needed: number,
  freeze: 'world' | 'footprint',
  schedule: readonly Step[],
  met: Met,
): Promise<void> {
  const domain = severalOf(needed, freeze);
  const store = new FaultyStore();
  const clock = new HandClock();
  const oracle = new Oracle(needed, freeze);
  let model: Model = { now: 0, n: 0, asked: 0, all: [] };
  let lives = 0;
  const open = async (): Promise<Trajectory> => {
    const ports = { clock, random: seededRandom(`life ${lives++}`) };
    const options = { ports, approvals: { timeoutMs: EXPIRES_MS } };
    return runtimeOver(store, [domain], options).open('t');
  };
  await runtimeOver(store, [domain], { ports: { clock } }).create(domain, {
    trajectoryId: 't',
    writs: [asker],
  });
  const processes = [await open(), await open()] as [Trajectory, Trajectory];

  for (const step of schedule) {
    const before = idsOf(await allEntries(store, 't'));
    const known = before.flatMap((ids, i) => ids.map((id, j) => [id, i, j] as const)).reverse();
    const whichOf = (one: Act) =>
      one.do === 'approve' || one.do === 'reject' ? known[one.nth] : undefined;
    const perform = (on: Trajectory, one: Act): Promise<Ruling> => {
      if (one.do === 'ask') return on.propose(intent('ask', { amount: one.amount }, asker));
      if (one.do === 'add') return on.propose(intent('add', { by: one.amount }, asker));
      const id = whichOf(one)?.[0] ?? 'f'.repeat(64);
      const by = { principal: PEOPLE[one.who] as string, method: 'test' };
      if (one.do === 'reject') return on.approvals.reject(id, { ...by, reason: 'no' });
      return on.approvals.approve(id, { ...by, override: one.override });
    };
    const answered = (on: Trajectory, one: Act): Promise<Outcome> =>
      perform(on, one)
        .catch((error: Error) => error)
        .then(nameOf);
    const modelled = (on: Model, one: Act, fault: Fault): Outcome => {
      const [, i = -1, j = -1] = whichOf(one) ?? [];
      return oracle.run(on, one, [i, j], fault);
    };

    /** Continues with the possible outcome that matches the store. */
    const settle = async (
      answers: readonly Outcome[],
      possible: readonly Possible[],
    ): Promise<void> => {
      const { n, asked } = JSON.parse(await soundState(store, 't'));
      const rows = await allEntries(store, 't');
      const lengths = idsOf(rows).map(({ length }) => length);
      const there = sightOf({ n, asked }, lengths, areOpen(rows));
      const modelOpen = ({ all }: Model): boolean[] => all.map(({ ended }) => ended === 'no');
      const found = possible.find(
        ({ said, after }) =>
          `${said}` === `${answers}` &&
          sightOf(after, lengthsOf(after), modelOpen(after)) === there,
      );
      expect(
        found,
        `${answers} is not one of ${possible.map(({ said }) => said).join(' | ')}`,
      ).toBeDefined();
      model = (found as Possible).after;
      for (const answer of answers) met.note(answer);
    };

    // At the same time, the same act would be the same entry. A lost reply would then be found by
    // its id.
    const ms = step.do === 'wait' ? step.ms : 1;
    clock.forward(ms);
    model.now += ms;
    if (step.do === 'wait') continue;
    if (step.do === 'crash') {
      processes[step.process] = await open();
    } else if (step.do === 'act') {
      store.commits = 0;
      store.plan = new Map([[1, step.fault]]);
      const on = processes[step.process];
      const answers = [await answered(on, step.act)];
      store.plan = new Map();
      const after = structuredClone(model);
      const possible = [{ said: [modelled(after, step.act, step.fault)], after }];
      // The fault may have hit a try that another process was faster than.
      if (!['none', 'conflict'].includes(step.fault))
        possible.push({ said: ['lost'], after: model });
      await settle(answers, possible);
      // A process that has answered has the whole state in memory.
      if (/committed|escalated/.test(answers[0] as Outcome))
        expect(on.state()).toMatchObject({ n: model.n, asked: model.asked, approved: model.asked });
    } else {
      const [one, other] = step.acts;
      const answers = await Promise.all([
        answered(processes[0], one),
        answered(processes[1], other),
      ]);
      // As if one had come after the other.
      const orders = [0, 1].map((first) => {
        const after = structuredClone(model);
        const said: Outcome[] = [];
        for (const n of [first, 1 - first]) said[n] = modelled(after, step.acts[n] as Act, 'none');
        return { said, after };
      });
      await settle(answers, orders);
    }
    const rows = await allEntries(store, 't');
    const ids = idsOf(rows);
    expect(ids.map(({ length }) => length)).toEqual(lengthsOf(model));
    for (const [i, { ended, by }] of model.all.entries()) {
      const status = await processes[lives % 2 === 0 ? 0 : 1].approvals.statusOf(
        ids[i]?.[0] as string,
      );
      if (ended === 'no') expect(status).toMatchObject({ status: 'pending', id: ids[i]?.at(-1) });
      else if (ended === 'committed')
        expect(status).toMatchObject({ ruling: { ruling: 'committed' } });
      else expect(status).toMatchObject({ ruling: { ruling: 'rejected', reason: ended } });
      met.note(`${ended} after ${by.length}`);
    }
  }
  checkLedger(await allEntries(store, 't'), needed);
  expect(JSON.parse(await soundState(store, 't'))).toMatchObject({
    n: model.n,
    asked: model.asked,
  });
  expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
}

/** How often what was met. */
class Met {
  readonly counts: Map<string, number> = new Map();

  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

const TO_MEET = [
  ...[
    'escalated 0',
    'escalated 1',
    'escalated 2',
    'committed',
    'counselor_rejected',
    'expired',
    'frozen',
    'lost',
  ],
  ...[
    'not_pending',
    'unauthorised_counselor',
    'already_approved',
    'override_needed',
    'invariant_rejected',
  ],
  ...[
    'committed after 1',
    'committed after 2',
    'committed after 3',
    'expired after 1',
    'counselor_rejected after 1',
  ],
];

test('every escalation is resolved at most once, by enough approvers, in order', async () => {
  const met = new Met();
  const freeze = fc.constantFrom('world' as const, 'footprint' as const);
  const schedule = fc.array(step, { minLength: 5, maxLength: 40 });
  const missing = (): string[] => TO_MEET.filter((what) => (met.counts.get(what) ?? 0) === 0);
  // Until it was about what it says: the rarest are not met in each so many.
  for (let batch = 0; batch === 0 || (batch < 10 && missing().length > 0); batch++) {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), freeze, schedule, (needed, how, steps) =>
        play(needed, how, steps, met),
      ),
      { numRuns: cases(400) },
    );
  }
  if (hasUsualCases()) expect(missing()).toEqual([]);
});
