import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { hashText, plainText } from '#canon';
import {
  applyPatches,
  type CommitPayload,
  type EntryRow,
  fresh,
  type Patch,
  type Payload,
  type PendingPayload,
  Replayer,
  type RootPayload,
  verifyTrajectory,
} from '#ledger';
import { type DeepReplayReport, deepReplay, deepReplayStore } from '#replay';
import { cases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import {
  detailOf,
  generatedDomain,
  intentOf,
  type NaiveAction,
  naiveAction,
  naiveAll,
  type RuleSpec,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import {
  askingRules,
  type Execution,
  fitted,
  payloadOf,
  play,
  rules,
  schedule,
  shopState,
} from '../support/models/schedule.ts';

// Deep replay over generated domains, agents and schedules. The schedules have overrides,
// counselors' own states, refusals of every kind, harmful domain code, and both freeze modes.

const freezing = fc.constantFrom('world' as const, 'footprint' as const);

function rowsOf({ happenings }: Execution): readonly EntryRow[] {
  return happenings.at(-1)?.after ?? [];
}

/**
 * The number of entries that the replay does not run again: rejections that resolve a pending
 * proposal.
 */
function resolutions(rows: readonly EntryRow[]): number {
  return rows
    .map(payloadOf)
    .filter((payload) => payload.kind === 'rejection' && payload.resolves !== undefined).length;
}

describe('a trajectory that the runtime made', () => {
  test('is made just so again by the domain that made it', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(rules, askingRules),
        shopState,
        schedule,
        freezing,
        async (specs, start, steps, freeze) => {
          const run = await play(specs, start, steps, { freeze, override: true });
          const rows = rowsOf(run);
          const report = await deepReplay(run.store, 't', { domains: [run.generated.domain] });
          expect(report.differences).toEqual([]);
          expect(report.broken).toEqual([]);
          expect(report).toMatchObject({
            same: true,
            preserved: true,
            reworded: 0,
            entries: rows.length,
          });
          // Every ruling was run again but those that a person made.
          expect(report.compared).toBe(rows.length - resolutions(rows));
          expect(report.taken_as_recorded.counselor_rejected ?? 0).toBe(resolutions(rows));
          expect(report.taken_as_recorded.writ ?? 0).toBe(0);
        },
      ),
      { numRuns: cases(1_500) },
    ));

  test('and so are branches and their branches, alone and with their sources', () =>
    fc.assert(
      fc.asyncProperty(
        askingRules,
        shopState,
        schedule,
        freezing,
        fc.array(fc.tuple(fc.nat(20), fc.array(naiveAction, { maxLength: 4 })), {
          minLength: 1,
          maxLength: 4,
        }),
        async (specs, start, steps, freeze, branches) => {
          const run = await play(specs, start, steps, { freeze, override: true });
          const { store, generated } = run;
          const names = await branchOff(store, run, branches);
          const domains = [generated.domain];
          for (const report of await deepReplayStore(store, { domains })) {
            expect(report.differences).toEqual([]);
            expect(report).toMatchObject({ same: true, preserved: true });
          }
          for (const name of names) {
            const whole = await deepReplay(store, name, { domains });
            const alone = await deepReplay(store, name, { domains, sources: false });
            expect([whole.differences, alone.differences]).toEqual([[], []]);
            expect(whole.entries).toBeGreaterThan(alone.entries);
          }
        },
      ),
      { numRuns: cases(300) },
    ));
});

/** Creates branches, each from a commit or root of an earlier trajectory, and works on each. */
async function branchOff(
  store: MemoryStore,
  { generated }: Execution,
  branches: readonly (readonly [number, readonly NaiveAction[]])[],
): Promise<string[]> {
  const assize = runtimeOver(store, [generated.domain]);
  const worker = writFor('brancher');
  const names: string[] = [];
  for (const [i, [pick, actions]] of branches.entries()) {
    const source = ['t', ...names][pick % (names.length + 1)] as string;
    const rows = (await store.entries(source)).filter(
      ({ kind }) => kind !== 'rejection' && kind !== 'pending_approval',
    );
    const { id } = rows[pick % rows.length] as EntryRow;
    const branch = await assize.branch(source, id, {
      trajectoryId: `b${i}`,
      note: 'what if',
      override: true,
    });
    for (const action of actions) await branch.propose({ ...intentOf(action), writ: worker });
    names.push(branch.id);
  }
  return names;
}

/**
 * The same rows with one changed payload, and with all later entries linked again: a chain that
 * verifies.
 */
function rewritten(
  rows: readonly EntryRow[],
  at: number,
  change: (payload: any) => void,
): EntryRow[] {
  const ids = new Map<string, string>();
  let parent: string | null = null;
  return rows.map((row, seq) => {
    // Every id that an entry names is one of those before it.
    const text = [...ids].reduce((all, [from, to]) => all.replaceAll(from, to), row.payload);
    const payload = { ...(JSON.parse(text) as Payload), parent } as Payload;
    if (seq === at) change(payload);
    const made = plainText(payload);
    const id = hashText(made);
    ids.set(row.id, id);
    const entry = { ...row, id, parent, payload: made };
    parent = id;
    return entry;
  });
}

async function storeOf(rows: readonly EntryRow[], from: MemoryStore): Promise<MemoryStore> {
  const store = new MemoryStore();
  const hashes = rows.flatMap(({ payload }) =>
    [...payload.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(([, hash]) => hash),
  );
  const writs = rows.flatMap(({ payload }) =>
    [...payload.matchAll(/"writ_id":"([0-9a-f]{64})"/g)].map(([, id]) => id),
  );
  const blobs = [];
  for (const hash of new Set([...hashes, ...writs]) as Set<string>) {
    const text = await from.blob(hash);
    if (text !== undefined) blobs.push({ hash, text });
  }
  expect(await store.commit({ entries: rows, blobs })).toEqual({ status: 'committed' });
  return store;
}

describe('a ledger that was rewritten, ids and all, so that its chain verifies', () => {
  async function found(
    run: Execution,
    rows: readonly EntryRow[],
    at: number,
    change: (payload: any) => void,
  ): Promise<DeepReplayReport> {
    const store = await storeOf(rewritten(rows, at, change), run.store);
    expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true });
    return deepReplay(store, 't', { domains: [run.generated.domain] });
  }

  test('to another result or another refusal reason: is found where it changed', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(rules, askingRules),
        shopState,
        schedule,
        fc.nat(),
        async (drawn, start, steps, pick) => {
          const specs = fitted(drawn, start);
          const run = await play(specs, start, steps);
          const rows = rowsOf(run);
          const may = rows.filter((row) => {
            const payload = payloadOf(row);
            return (
              (payload.kind === 'commit' || payload.kind === 'rejection') &&
              payload.resolves === undefined
            );
          });
          if (may.length === 0) return;
          const { seq, kind } = may[pick % may.length] as EntryRow;
          const report = await found(run, rows, seq, (payload) => {
            if (kind === 'commit')
              payload.delta.state.push({ op: 'add', path: '/approvals/forged', value: 'x' });
            else if (payload.invariant_id === undefined)
              payload.reason = payload.reason === 'unknown_tool' ? 'type_mismatch' : 'unknown_tool';
            else payload.invariant_id = 'RULE_99';
          });
          expect(report.same).toBe(false);
          const [first] = report.differences;
          expect(first).toMatchObject({
            trajectory_id: 't',
            seq,
            what: kind === 'commit' ? 'delta' : 'ruling',
          });
        },
      ),
      { numRuns: cases(500) },
    ));

  test('to have put something else up for approval: is found, with the digest', () =>
    fc.assert(
      fc.asyncProperty(
        askingRules,
        shopState,
        schedule,
        fc.nat(),
        async (drawn, start, steps, pick) => {
          const run = await play(fitted(drawn, start), start, steps);
          const rows = rowsOf(run);
          const waiting = rows.filter(({ kind }) => kind === 'pending_approval');
          if (waiting.length === 0) return;
          const { seq } = waiting[pick % waiting.length] as EntryRow;
          const part = (['delta', 'approval', 'cost'] as const)[pick % 3] as
            | 'delta'
            | 'approval'
            | 'cost';
          const forged = await storeOf(
            rewritten(rows.slice(0, seq + 1), seq, (payload: PendingPayload) => {
              const { proposal } = payload as { proposal: any };
              if (part === 'delta')
                proposal.delta.state.push({ op: 'add', path: '/approvals/forged', value: 'x' });
              else if (part === 'approval')
                proposal.approval.push({ op: 'add', path: '/approvals/forged', value: 'x' });
              else proposal.budget_cost = { usd: 1 };
              (payload as { digest: string }).digest = hashText(plainText(proposal));
            }),
            run.store,
          );
          const report = await deepReplay(forged, 't', { domains: [run.generated.domain] });
          expect(report.differences.map(({ what, seq: at }) => [at, what])).toEqual([
            [seq, part],
            [seq, 'digest'],
          ]);
        },
      ),
      { numRuns: cases(500) },
    ));

  test('in any way at all: there is a report, or a typed error', () =>
    fc.assert(
      fc.asyncProperty(
        askingRules,
        shopState,
        schedule,
        fc.nat(),
        fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }),
        fc.constantFrom<unknown[]>(
          null,
          0,
          'x',
          [],
          {},
          { $blob: 'a'.repeat(64), bytes: 1 },
          'a'.repeat(64),
          '__proto__',
        ),
        async (drawn, start, steps, pick, walk, value) => {
          const run = await play(fitted(drawn, start), start, steps);
          const rows = rowsOf(run);
          const changed = rewritten(rows, pick % rows.length, (payload) =>
            setSomewhere(payload, walk, clone(value as never)),
          );
          const store = await storeOf(changed, run.store);
          const report = await deepReplay(store, 't', { domains: [run.generated.domain] }).catch(
            (error: unknown) => error,
          );
          if (isAssizeError(report))
            expect(['invalid_ledger', 'domain_mismatch']).toContain(report.code);
          else expect(report).toMatchObject({ trajectory_id: 't', entries: rows.length });
        },
      ),
      { numRuns: cases(700) },
    ));
});

function setSomewhere(root: object, walk: readonly number[], value: unknown): void {
  let here = root as any;
  for (const [i, step] of walk.entries()) {
    // The trajectory's name and the fields that a store requires stay unchanged.
    const names = Object.keys(here).filter(
      (name) => !['trajectory_id', 'seq', 'parent', 'kind'].includes(name),
    );
    if (names.length === 0) return;
    const name = names[step % names.length] as string;
    const below = here[name];
    if (i === walk.length - 1 || typeof below !== 'object' || below === null) {
      here[name] = value;
      return;
    }
    here = below;
  }
}

describe('another domain', () => {
  test('breaks on the recorded states exactly the rules that it breaks directly', () =>
    fc.assert(
      fc.asyncProperty(
        rules,
        shopState,
        schedule,
        fc.nat(2_000),
        async (drawn, start, steps, salt) => {
          const specs = fitted(drawn, start);
          const run = await play(specs, start, steps, { override: true });
          const rows = rowsOf(run);
          // Another salt lets other states pass; the declaration and its hash are the same.
          const changed = specs.map((spec): RuleSpec => ({ ...spec, salt }));
          const { domain } = generatedDomain(changed);
          expect(domain.hash).toBe(run.generated.domain.hash);
          const report = await deepReplay(run.store, 't', { domains: [domain], limit: 100_000 });
          expect(
            report.broken
              .map(({ seq, invariant_id, detail }) => `${seq} ${invariant_id} ${detail}`)
              .sort(),
          ).toEqual(brokenIn(rows, changed).sort());
        },
      ),
      { numRuns: cases(500) },
    ));
});

/**
 * The failures after an entry, not overridden, that did not fail before it, checked naively.
 */
function brokenIn(rows: readonly EntryRow[], specs: readonly RuleSpec[]): string[] {
  let state = clone(
    (payloadOf(rows[0] as EntryRow) as RootPayload).initial_state,
  ) as unknown as ShopState;
  let before = new Set<string>();
  const broken: string[] = [];
  for (const row of rows) {
    const payload = payloadOf(row);
    if (payload.kind === 'commit') state = after(state, payload);
    else if (payload.kind !== 'root') continue;
    const findings = naiveAll(specs, state).map((finding) => ({
      name: `${finding.id} ${JSON.stringify(finding.keys)}`,
      shown: `${row.seq} ${finding.id} ${detailOf(finding, specs, finding.id)}`,
    }));
    const overridden = payload.kind === 'commit' && payload.counselor?.override === true;
    if (!overridden)
      broken.push(...findings.filter(({ name }) => !before.has(name)).map(({ shown }) => shown));
    before = new Set(findings.map(({ name }) => name));
  }
  return broken;
}

function after(state: ShopState, { delta }: CommitPayload): ShopState {
  const fold = fresh(clone(state) as never);
  applyPatches(fold, delta.state as readonly Patch[]);
  return fold.state as unknown as ShopState;
}
