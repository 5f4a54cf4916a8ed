import { DERIVATIONS } from '@assize/audit/internal/blast';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, escalate, pass } from '#kernel';
import {
  type CommitPayload,
  type Hash,
  type Instant,
  integrateLog,
  type Patch,
  readRow,
} from '#ledger';
import { cases } from '../../../../../tests/support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Memory } from '../memory/memory.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';
import type { Derivation, EntryLinks } from './entry-links.ts';
import { walkLineage } from './lineage.ts';

const THROUGH: ReadonlySet<Derivation> = new Set(DERIVATIONS);

const state = z.object({
  notes: z.record(z.string(), z.record(z.string(), z.string())),
  big: z.number(),
});

/** Notes by group and key. A note of the group `big` needs an approval. */
const notes = defineDomain({
  name: 'notes',
  version: '1',
  state,
  initial: { notes: { a: {}, b: {} }, big: 0 },
  processes: { noting: { writes: ['/notes', '/big'] } },
  roles: { worker: { processes: ['noting'] } },
  actions: {
    note: {
      process: 'noting',
      args: z.object({ group: z.string(), key: z.string(), text: z.string(), big: z.boolean() }),
      apply: (world, { group, key, text, big }) => {
        world.notes[group] = { ...world.notes[group], [key]: text };
        if (big) world.big += 1;
      },
      onApprove: (world) => {
        world.big = 0;
      },
    },
    wipe: {
      process: 'noting',
      args: z.object({ group: z.string() }),
      apply: (world, { group }) => {
        delete world.notes[group];
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant('BIG', ['/big'], ({ big }) => (big > 0 ? escalate('a big note') : pass)),
  ],
  counselors: { boss: (principal) => principal === 'boss' },
  memory: { predicates: { is: { cardinality: 'single-valued', strategy: 'lww' } } },
});

/** One step of a history. `on` chooses the trajectory. */
type Step =
  | {
      readonly do: 'note';
      readonly on: number;
      readonly group: string;
      readonly key: string;
      readonly big: boolean;
    }
  | { readonly do: 'wipe'; readonly on: number; readonly group: string }
  | { readonly do: 'decide'; readonly on: number; readonly approves: boolean }
  | { readonly do: 'say'; readonly on: number; readonly subject: string; readonly object: string }
  | { readonly do: 'infer'; readonly on: number; readonly from: string; readonly key: string }
  | { readonly do: 'branch'; readonly on: number };

const on = fc.nat(5);
const subject = fc.constantFrom('x', 'y');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('note' as const),
    on,
    group: fc.constantFrom('a', 'b'),
    key: fc.constantFrom('k', 'l', 'm'),
    big: fc.boolean(),
  }),
  fc.record({ do: fc.constant('wipe' as const), on, group: fc.constantFrom('a', 'b') }),
  fc.record({ do: fc.constant('decide' as const), on, approves: fc.boolean() }),
  fc.record({ do: fc.constant('say' as const), on, subject, object: fc.constantFrom('1', '2') }),
  fc.record({
    do: fc.constant('infer' as const),
    on,
    from: subject,
    key: fc.constantFrom('k', 'l', 'm'),
  }),
  fc.record({ do: fc.constant('branch' as const), on }),
);

/** An entry as the history meant it, for the naive search. */
interface Meant {
  readonly id: Hash;
  readonly trajectory: string;
  /** Earlier entries that it derives from by what was done. */
  readonly from: readonly Hash[];
  /** Earlier entries that state the same fact. */
  readonly confirms: readonly Hash[];
  /** The paths that it wrote, or would write. */
  readonly paths: readonly string[];
  readonly isOpen: boolean;
  /** For a branch: its source. */
  readonly source?: string;
}

const writ = writFor('worker');

async function history(steps: readonly Step[], logged: boolean) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [notes], { ports: { clock } });
  const meant: Meant[] = [];
  const trajectories: {
    trajectory: Trajectory<typeof notes>;
    memory: Memory;
    branch: string | undefined;
  }[] = [];
  /** The believed object and its statements after each change, by memory and subject. */
  const said = new Map<
    string,
    { readonly object: string; readonly ids: readonly Hash[]; readonly at: Instant }[]
  >();
  const saidIn = (branch: string | undefined, about: string) =>
    said.get(`${branch ?? ''} ${about}`)?.at(-1);
  const begin = (trajectory: Trajectory<typeof notes>, branch: string | undefined): void => {
    trajectories.push({ trajectory, memory: trajectory.memory({ space: 's', writ }), branch });
  };
  for (const trajectoryId of ['t', 'u']) {
    const trajectory = await assize.create(notes, { trajectoryId, writs: [writ] });
    meant.push({
      id: trajectory.head,
      trajectory: trajectoryId,
      from: [],
      confirms: [],
      paths: [''],
      isOpen: false,
    });
    begin(trajectory, undefined);
  }
  for (const each of steps) {
    clock.forward(2_000);
    const { trajectory, memory, branch } = trajectories[each.on % trajectories.length]!;
    const add = (id: Hash, more: Partial<Meant>): void => {
      meant.push({
        id,
        trajectory: trajectory.id,
        from: [],
        confirms: [],
        paths: [],
        isOpen: false,
        ...more,
      });
    };
    const noted = (ruling: Ruling, paths: readonly string[], from: readonly Hash[] = []): void => {
      if (ruling.ruling === 'frozen') return;
      const isOpen = ruling.ruling === 'escalated';
      add(ruling.entry.id, { paths: ruling.ruling === 'rejected' ? [] : paths, from, isOpen });
    };
    if (each.do === 'note') {
      const { group, key, big } = each;
      const args = { group, key, text: `${clock.at}`, big };
      const ruling = await trajectory.propose({ action: 'note', role: 'worker', args, writ });
      noted(ruling, readPaths(ruling));
    } else if (each.do === 'wipe') {
      const ruling = await trajectory.propose({
        action: 'wipe',
        role: 'worker',
        args: { group: each.group },
        writ,
      });
      noted(ruling, readPaths(ruling));
    } else if (each.do === 'decide') {
      const [open] = trajectory.approvals.pending();
      if (open === undefined) continue;
      const by = { principal: 'boss', method: 'test', digest: open.payload.digest };
      const ruling = each.approves
        ? await trajectory.approvals.approve(open.id, by)
        : await trajectory.approvals.reject(open.id, { ...by, reason: 'no' });
      noted(ruling, readPaths(ruling), [open.id]);
    } else if (each.do === 'say') {
      const before = saidIn(branch, each.subject);
      const ruling = await memory.assert({
        subject: each.subject,
        predicate: 'is',
        object: each.object,
      });
      if (ruling.ruling !== 'committed') continue;
      const confirms = before?.object === each.object ? before.ids : [];
      add(ruling.entry.id, { confirms });
      const memoryKey = `${branch ?? ''} ${each.subject}`;
      const now = { object: each.object, ids: [...confirms, ruling.entry.id], at: clock.at };
      said.set(memoryKey, [...(said.get(memoryKey) ?? []), now]);
    } else if (each.do === 'infer') {
      const { facts, observation } = await memory.recall({ subject: each.from, predicate: 'is' });
      const before = facts.length === 0 ? undefined : saidIn(branch, each.from);
      const args = { group: 'a', key: each.key, text: `${clock.at}`, big: false };
      const ruling = await trajectory.propose({
        ...{ action: 'note', role: 'worker', args, writ },
        observations: [observation as never],
      });
      noted(ruling, readPaths(ruling), before?.ids ?? []);
    } else {
      const trajectoryId = `b${trajectories.length}`;
      // A branch starts from a commit.
      const head = trajectory.head;
      const { kind, payload } = readRow((await store.resolve(head))!);
      if (!['root', 'commit', 'branch'].includes(kind)) continue;
      const begun = (await assize.branch(trajectory.id, head, {
        ...{ trajectoryId, note: 'n', writs: [writ] },
      })) as unknown as Trajectory<typeof notes>;
      meant.push({
        ...{
          id: begun.head,
          trajectory: trajectoryId,
          from: [head],
          confirms: [],
          paths: [],
          isOpen: false,
        },
        source: trajectory.id,
      });
      for (const name of ['x', 'y']) {
        const seen = (said.get(`${branch ?? ''} ${name}`) ?? []).filter(
          ({ at }) => at <= payload.at,
        );
        said.set(`${trajectoryId} ${name}`, seen);
      }
      begin(begun, trajectoryId);
    }
  }
  if (logged) await integrateLog(store);
  return { store, meant };
}

/** The paths that a proposal changes, as its entry records them. */
function readPaths(ruling: Ruling): string[] {
  if (ruling.ruling === 'rejected' || ruling.ruling === 'frozen') return [];
  const { payload } = readRow(ruling.entry);
  const { delta } =
    payload.kind === 'pending_approval' ? payload.proposal : (payload as CommitPayload);
  return (delta.state as readonly Patch[]).map(({ path }) => path);
}

/** Every entry that derives from a start, by comparing all pairs until no more is found. */
function naive(meant: readonly Meant[], starts: ReadonlySet<Hash>): Set<Hash> {
  const found = new Set(starts);
  const chainOf = (index: number): { at: number; trajectory: string }[] => {
    // The entry's own trajectory up to it, and the sources of the branch up to its start.
    const chain = [{ at: index, trajectory: meant[index]!.trajectory }];
    for (;;) {
      const { at, trajectory } = chain.at(-1)!;
      const begins = meant.findIndex((each, i) => each.trajectory === trajectory && i <= at);
      const { source } = meant[begins]!;
      if (source === undefined) return chain;
      chain.push({ at: begins, trajectory: source });
    }
  };
  const overlap = (a: string, b: string): boolean =>
    a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [i, later] of meant.entries()) {
      const isBranch = later.source !== undefined;
      const above = chainOf(i);
      const derives = meant.slice(0, i).some((earlier, j) => {
        if (!found.has(earlier.id)) return false;
        if (later.from.includes(earlier.id)) return true;
        if (
          earlier.isOpen ||
          !above.some(({ at, trajectory }) => earlier.trajectory === trajectory && j < at)
        )
          return false;
        // A branch that is the start itself is affected as a whole.
        const paths = earlier.source !== undefined && starts.has(earlier.id) ? [''] : earlier.paths;
        if (isBranch) return paths.length > 0;
        return paths.some((a) => later.paths.some((b) => overlap(a, b)));
      });
      if (derives) found.add(later.id);
    }
  }
  // Nothing derives from a statement that confirms another one.
  const confirming = meant.filter(({ confirms }) => confirms.some((id) => found.has(id)));
  return new Set([...found, ...confirming.map(({ id }) => id)]);
}

describe('the entries that derive from a start', () => {
  test('are those of a naive search, in any history', async () => {
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 24 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (steps, chosen, logged) => {
          const { store, meant } = await history(steps, logged);
          const starts = new Set(chosen.map((n) => meant[n % meant.length]!.id));
          const options = { startIn: ({ id }: EntryLinks) => starts.has(id), through: THROUGH };
          const { affected, entries } = await walkLineage(store, options);
          expect(entries).toBe(meant.length);
          expect(new Set(affected.map(({ id }) => id))).toEqual(naive(meant, starts));
          for (const { from, isStart } of affected) {
            expect(isStart || from.length > 0).toBe(true);
            for (const { how } of from) kinds.add(how);
          }
        },
      ),
      { numRuns: cases(8_000) },
    );
    expect([...kinds].sort()).toEqual(
      expect.arrayContaining(['belief', 'branch', 'decision', 'recall', 'state']),
    );
  });
});
