import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalize, contentHash } from '#canon';
import { adjudicate, type Domain, defineDomain, escalate, pass, reject, World } from '#kernel';
import type { Batch, CommitPayload, CommitResult, Payload } from '#ledger';
import { applyPatches, fresh, type Patch } from '#ledger';
import { seededRandom } from '#oracle';
import { type ProposalInput, type Ruling, RuntimeError, type Trajectory } from '#runtime';
import { COMMIT_ATTEMPTS_MAX } from '../../packages/assize/src/runtime/writer/prepared.ts';
import { cases } from '../support/cases.ts';
import { payloads, soundState } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { ANYONE } from '../support/models/permissive-authority.ts';

// Writers that know nothing of each other: each proposal is adjudicated against the state that it
// commits on. After a conflict, a writer adjudicates its proposal again on the new state. A writer
// that gives up leaves no entry.

/**
 * Each proposal writes the hash of the state that it was adjudicated on, and so of all earlier
 * states.
 */
function domainOf(applied: (by: string) => void = () => {}): Domain {
  const stamp = (state: any): void => {
    state.on = contentHash(JSON.parse(JSON.stringify(state)));
  };
  const writes = ['/n', '/asked', '/agreed', '/on'];
  return defineDomain({
    name: 'chained',
    version: '1',
    state: z.object({
      n: z.number(),
      asked: z.number(),
      agreed: z.number(),
      on: z.string(),
      own: z.record(z.string(), z.number()),
    }),
    initial: { n: 0, asked: 0, agreed: 0, on: '', own: {} },
    processes: { all: { reads: ['/own'], writes }, own: { writes: ['/own/{who}'] } },
    roles: { worker: { processes: ['all'] }, owner: { params: ['who'], processes: ['own'] } },
    counselors: { md: (principal) => principal.startsWith('dr-') },
    actions: {
      add: {
        process: 'all',
        args: z.object({ by: z.number(), who: z.string() }),
        apply: (state, { by, who }) => {
          applied(who);
          stamp(state);
          state.n += by;
        },
      },
      ask: {
        process: 'all',
        args: z.object({}),
        apply: (state) => {
          stamp(state);
          state.asked += 1;
        },
      },
      count: {
        process: 'own',
        args: z.object({}),
        apply: (state, _args, { role }) => {
          const who = role['who'] as string;
          state.own[who] = (state.own[who] ?? 0) + 1;
        },
      },
    },
    invariants: ({ invariant }) => [
      invariant('SIX_AT_MOST', ['/n', '/on'], ({ n, on }) =>
        n <= 6 ? pass : reject(`${n} on ${on}`),
      ),
      invariant(
        'AGREED',
        ['/asked', '/agreed', '/on'],
        ({ asked, agreed, on }) => (asked <= agreed ? pass : escalate(`${asked} on ${on}`)),
        {
          onApprove: (state) => {
            state.agreed = state.asked;
          },
        },
      ),
    ],
  }) as Domain;
}

/**
 * One process's view of a store. The schedule decides when each call starts and when it is
 * answered.
 */
class Scheduled extends MemoryStore {
  readonly #below: MemoryStore;
  readonly #scheduler: fc.Scheduler;

  constructor(below: MemoryStore, scheduler: fc.Scheduler) {
    super();
    this.#below = below;
    this.#scheduler = scheduler;
  }

  async #turn<T>(step: () => Promise<T>): Promise<T> {
    await this.#scheduler.schedule(Promise.resolve());
    const result = await step();
    await this.#scheduler.schedule(Promise.resolve());
    return result;
  }

  override commit(batch: Batch): Promise<CommitResult> {
    return this.#turn(() => this.#below.commit(batch));
  }
  override entries(
    ...args: Parameters<MemoryStore['entries']>
  ): ReturnType<MemoryStore['entries']> {
    return this.#turn(() => this.#below.entries(...args));
  }
  override head(id: string): ReturnType<MemoryStore['head']> {
    return this.#turn(() => this.#below.head(id));
  }
  override resolve(id: string): ReturnType<MemoryStore['resolve']> {
    return this.#turn(() => this.#below.resolve(id));
  }
  override blob(hash: string): ReturnType<MemoryStore['blob']> {
    return this.#turn(() => this.#below.blob(hash));
  }
}

const PROCESSES = 3;
const act = fc.record({
  process: fc.nat(PROCESSES - 1),
  /** Lets this answer come before it goes on. */
  wait: fc.boolean(),
  what: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: -2, max: 3 }) },
    { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('ask' as const, 'approve' as const, 'reject' as const),
    },
  ),
});

const writ = writFor('agent');

function inputOf(what: number | string, process: number): ProposalInput {
  if (typeof what === 'number') return intent('add', { by: what, who: `p${process}` }, writ);
  if (what === 'ask') return intent('ask', {}, writ);
  return intent('count', {}, writ, { role: { name: 'owner', params: { who: what } } });
}

/** The caller's answer: the position of its entry, or an error code. */
async function told(answer: Promise<Ruling>): Promise<string> {
  try {
    const ruling = await answer;
    return ruling.ruling === 'frozen'
      ? 'frozen'
      : `${ruling.ruling} ${ruling.entry.seq} ${ruling.entry.id}`;
  } catch (error) {
    if (error instanceof RuntimeError) return error.code;
    throw error;
  }
}

/**
 * Adjudicates a ledger's proposals one after the other, each on its parent's state, and compares
 * with the record.
 */
function judgedSerially(
  domain: Domain,
  entries: readonly Payload[],
): { seen: string[]; recorded: string[] } {
  const fold = fresh(JSON.parse(JSON.stringify(domain.initial)));
  const [seen, recorded]: [string[], string[]] = [[], []];
  for (const entry of entries) {
    if (
      entry.kind === 'commit' ||
      entry.kind === 'pending_approval' ||
      (entry.kind === 'rejection' && entry.resolves === undefined)
    ) {
      const resolves = entry.kind === 'commit' && entry.resolves !== undefined;
      if (!resolves) {
        const ruling = ruledOn(domain, fold.state, entry);
        seen.push(`${entry.seq} ${ruling}`);
        recorded.push(`${entry.seq} ${recordedOf(entry)}`);
      }
    }
    if (entry.kind === 'commit') applyPatches(fold, entry.delta.state as readonly Patch[]);
  }
  return { seen, recorded };
}

type Ruled = Extract<Payload, { kind: 'commit' | 'pending_approval' | 'rejection' }>;

function ruledOn(domain: Domain, state: object, entry: Ruled): string {
  const action =
    entry.kind === 'rejection'
      ? { ...entry.intent, name: entry.intent.action }
      : entry.kind === 'commit'
        ? entry.action
        : entry.proposal.action;
  const world = new World(domain, JSON.parse(JSON.stringify(state)));
  const asked = { action: action.name, role: action.role, args: action.args as never };
  const ruling = adjudicate(world, asked, ANYONE, { at: entry.at, observations: [] });
  if (ruling.verdict === 'rejected') return `rejected ${ruling.detail}`;
  const patches = ruling.verdict === 'approved' ? ruling.patches() : ruling.patches;
  return `${ruling.verdict} ${canonicalize(patches)}`;
}

function recordedOf(entry: Ruled): string {
  if (entry.kind === 'rejection') return `rejected ${entry.detail}`;
  if (entry.kind === 'commit') return `approved ${canonicalize(entry.delta.state)}`;
  return `escalated ${canonicalize(entry.proposal.delta.state)}`;
}

/** The hash of the state that a commit says it was judged on, and that of its parent's. */
function stamps(domain: Domain, entries: readonly Payload[]): { said: unknown[]; were: unknown[] } {
  const fold = fresh(JSON.parse(JSON.stringify(domain.initial)));
  const [said, were]: [unknown[], unknown[]] = [[], []];
  for (const entry of entries) {
    if (entry.kind !== 'commit') continue;
    const stamp = stampOf(entry);
    if (stamp !== undefined) {
      said.push(stamp);
      were.push(contentHash(JSON.parse(JSON.stringify(fold.state))));
    }
    applyPatches(fold, entry.delta.state as readonly Patch[]);
  }
  return { said, were };
}

function stampOf({ delta }: CommitPayload): unknown {
  const patch = (delta.state as readonly Patch[]).find(({ path }) => path === '/on');
  return patch !== undefined && 'value' in patch ? patch.value : undefined;
}

describe('several writers of one trajectory', () => {
  test('each proposal is adjudicated on the state of its commit, in any schedule', async () => {
    const domain = domainOf();
    const counted = { met: 0, ruled: 0 };
    const run = fc.asyncProperty(
      fc.scheduler(),
      fc.array(act, { minLength: 4, maxLength: 20 }),
      async (scheduler, acts) => {
        const below = new MemoryStore();
        await runtimeOver(below, [domain]).create(domain, { trajectoryId: 't', writs: [writ] });
        const open = (name: string): Promise<Trajectory> => {
          const store = new Scheduled(below, scheduler);
          return runtimeOver(store, [domain], { ports: { random: seededRandom(name) } }).open('t');
        };
        const processes = await scheduler.waitFor(
          Promise.all(Array.from({ length: PROCESSES }, (_, i) => open(`p${i}`))),
        );
        const answers: Promise<string>[] = [];
        for (const { process, wait, what } of acts) {
          const trajectory = processes[process] as Trajectory;
          const [pending] = trajectory.approvals.pending();
          const by = { principal: 'dr-who', method: 'test', reason: `reason ${answers.length}` };
          if (what !== 'approve' && what !== 'reject')
            answers.push(told(trajectory.propose(inputOf(what, process))));
          else if (pending !== undefined)
            answers.push(told(trajectory.approvals[what](pending.id, by)));
          if (wait && answers.length > 0)
            await scheduler.waitFor(answers.at(-1) as Promise<string>);
        }
        const outcomes = await scheduler.waitFor(Promise.all(answers));
        await soundState(below, 't');
        const entries = await payloads(below, 't');

        const { seen, recorded } = judgedSerially(domain, entries);
        expect(recorded).toEqual(seen);
        const { said, were } = stamps(domain, entries);
        expect(said).toEqual(were);
        // Each caller with an entry in its answer has exactly that entry. No two callers share an
        // entry, and a caller without one added none.
        const rows = await below.entries('t', { limit: 1_000 });
        const inPlace = rows.slice(1).map(({ seq, id }) => `${seq} ${id}`);
        const ruled = outcomes.flatMap((outcome) => /\d+ [0-9a-f]{64}$/.exec(outcome)?.[0] ?? []);
        expect(ruled.toSorted()).toEqual(inPlace.toSorted());
        counted.ruled += ruled.length;
        if (new Set(acts.map(({ process }) => process)).size > 1) counted.met++;
      },
    );
    await fc.assert(run, { numRuns: cases(300) });
    expect(counted.met).toBeGreaterThan(0);
    expect(counted.ruled).toBeGreaterThan(0);
  });

  test('a loser is adjudicated again up to a limit, and then leaves no entry', async () => {
    const run = fc.asyncProperty(
      fc.integer({ min: 0, max: COMMIT_ATTEMPTS_MAX + 4 }),
      fc.integer({ min: 0, max: 2 }),
      async (losses, key) => {
        let judged = 0;
        const domain = domainOf((who) => {
          if (who === 'loser') judged++;
        });
        const below = new MemoryStore();
        const winner = await runtimeOver(below, [domain], {
          ports: { random: seededRandom('winner') },
        }).create(domain, {
          trajectoryId: 't',
          writs: [writ],
        });
        let left = losses;
        class Losing extends Scheduled {
          override async commit(batch: Batch): Promise<CommitResult> {
            if (left-- > 0) await winner.propose(inputOf(['a', 'b', 'c'][key] as string, 0));
            return below.commit(batch);
          }
          override entries(
            ...args: Parameters<MemoryStore['entries']>
          ): ReturnType<MemoryStore['entries']> {
            return below.entries(...args);
          }
          override head(id: string): ReturnType<MemoryStore['head']> {
            return below.head(id);
          }
        }
        const store = new Losing(below, undefined as never);
        const loser = await runtimeOver(store, [domain], {
          ports: { random: seededRandom('loser') },
        }).open('t');
        const answer = await told(loser.propose(intent('add', { by: 1, who: 'loser' }, writ)));
        const entries = await payloads(below, 't');
        await soundState(below, 't');
        if (losses < COMMIT_ATTEMPTS_MAX) {
          expect(answer).toMatch(new RegExp(`^committed ${losses + 1} `));
          expect(judged).toBe(losses + 1);
          expect(stamps(domain, entries).said).toEqual(stamps(domain, entries).were);
        } else {
          expect(answer).toBe('conflict');
          expect(judged).toBe(COMMIT_ATTEMPTS_MAX);
          expect(
            entries.filter((entry) => entry.kind === 'commit' && entry.action.name === 'add'),
          ).toEqual([]);
          expect(loser.state()).toMatchObject({ n: 0, on: '' });
          expect(loser.length).toBe(entries.length);
        }
      },
    );
    await fc.assert(run, { numRuns: cases(60) });
  });
});
