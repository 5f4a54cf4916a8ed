import { MemoryStore } from '@assize/testing/internal/memory';
import type { Json } from 'assize/internal/base';
import { addMicros, canonicalize, generateKeys } from 'assize/internal/canon';
import { defineDomain } from 'assize/internal/kernel';
import { type CommitPayload, readRow } from 'assize/internal/ledger';
import type { OracleRow, OracleStore } from 'assize/internal/oracle';
import { beforeAll, describe, expect, test } from 'vitest';
import { desk, newsroom, staff } from '../../../../tests/support/ledger/newsroom.ts';
import { keysOf } from '../../../../tests/support/ledger/rows.ts';
import { operator, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { type Agent, type RunReplay, replayRun, type Turn, turnKey } from './index.ts';
import { recordedTimeout } from './replay.ts';

/** One recorded run. Every case alters it. */
let store: MemoryStore;
let agents: Agent[];
/** Keys in the order in which a replay reads them first. */
let read: string[];
/** The turn that reads a key first. */
let turnOf: Map<string, number>;
let turns: number;

const source = (oracleStore: Pick<OracleStore, 'oracleGet'>) => ({
  store,
  oracleStore,
  trajectoryId: 'desk',
});

function replay(
  oracleGet: OracleStore['oracleGet'],
  who: readonly Agent[] = agents,
): Promise<RunReplay> {
  return replayRun(source({ oracleGet }), newsroom, who, { anchors: [operator.publicKey] });
}

/** The log with one answer changed. Undefined: removed. */
function withAnswer(
  key: string,
  answer: (was: Json) => Json | undefined,
): OracleStore['oracleGet'] {
  return async (asked) => {
    const row = (await store.oracleGet(asked)) as OracleRow | undefined;
    if (asked !== key || row === undefined) return row;
    const changed = answer(JSON.parse(row.answer));
    return changed === undefined ? undefined : { ...row, answer: canonicalize(changed) };
  };
}

beforeAll(async () => {
  const recorded = await desk({}, 4);
  ({ store, agents } = recorded);
  await recorded.run();
  read = [];
  const keys = new Set<string>();
  turnOf = new Map();
  let current = -1;
  const report = await replay(async (key) => {
    if (!keys.has(key)) {
      keys.add(key);
      read.push(key);
      if (key === turnKey('desk', current + 1)) current++;
      turnOf.set(key, current);
    }
    return store.oracleGet(key);
  });
  expect(report.firstDifference).toBeUndefined();
  turns = report.turns;
  read = read.filter((key) => (turnOf.get(key) as number) < turns);
});

/** Turns with proposals, waits and a counselor's decision. */
async function recordedTurns(): Promise<Turn[]> {
  const rows = await Promise.all(
    Array.from({ length: turns }, (_, n) => store.oracleGet(turnKey('desk', n))),
  );
  return rows.map((row) => JSON.parse((row as OracleRow).answer));
}

/** Another value that a member of a turn might have. */
function other(turn: Turn, member: string): unknown {
  if (member === 'at') return addMicros(turn.at, 1);
  if (member === 'agent') return (turn as { agent: string }).agent === 'wren' ? 'chad' : 'wren';
  if (member === 'does') return (turn as { does: string }).does === 'propose' ? 'wait' : 'propose';
  if (member !== 'counsel') return '0'.repeat(64);
  const { counsel } = turn as Extract<Turn, { counsel: unknown }>;
  return counsel.do === 'reject'
    ? { ...counsel, reason: 'another' }
    : { ...counsel, do: 'reject', reason: 'no' };
}

describe('a change is found at the first turn that differs', () => {
  test('any answer of the log that the run used', async () => {
    const asked = read.filter((key) => key !== turnKey('desk', turnOf.get(key) as number));
    expect(asked.length).toBeGreaterThan(15);
    for (const key of asked) {
      const { same, firstDifference } = await replay(withAnswer(key, (was) => [was]));
      expect({ same, turn: firstDifference?.turn, kind: firstDifference?.kind }).toEqual({
        same: false,
        turn: turnOf.get(key),
        kind: 'decision',
      });
    }
  });

  test('any answer that is missing, by the question that it answered', async () => {
    for (const key of read) {
      const { same, firstDifference } = await replay(withAnswer(key, () => undefined));
      const turn = turnOf.get(key) as number;
      // No entry names the last turn if that turn made no entry.
      if (same) {
        expect(key).toBe(turnKey('desk', turns - 1));
        continue;
      }
      expect(firstDifference).toMatchObject({ kind: 'oracle_miss', turn });
      expect(firstDifference?.cause).toMatchObject({ code: 'oracle_miss', evidence: { key } });
      expect(firstDifference?.detail).toMatch(
        /^The oracle log has no answer to .* in scope \{"agent":/,
      );
    }
  });

  test('any turn field: arbitration, time, randomness, slice, decision, counsel', async () => {
    const all = await recordedTurns();
    expect(all.some((turn) => 'counsel' in turn && turn.counsel.do === 'approve')).toBe(true);
    for (const [n, turn] of all.entries()) {
      for (const member of Object.keys(turn)) {
        const { same, firstDifference } = await replay(
          withAnswer(turnKey('desk', n), (was) => ({
            ...(was as object),
            [member]: other(turn, member) as Json,
          })),
        );
        // No turn follows the last one. Without a proposal, its time and randomness are unused.
        if (n === turns - 1 && same) {
          expect(['at', 'salted', 'seed']).toContain(member);
          continue;
        }
        expect({ same, n, member, turn: firstDifference?.turn }).toEqual({
          same: false,
          n,
          member,
          turn: member === 'previous' && n > 0 ? n - 1 : n,
        });
      }
    }
  });

  test('changed agent code, a missing agent, and an agent with a new question', async () => {
    const [wren, chad, edie] = staff({ answer: async () => 'never' } as never, 4) as [
      Agent,
      Agent,
      Agent,
    ];
    const all = await recordedTurns();
    const first = (name: string) => all.findIndex((turn) => 'agent' in turn && turn.agent === name);
    const careless: Agent = {
      ...chad,
      decide: ({ drafts }) => ({ action: 'check', args: Object.keys(drafts)[0] }),
    };
    expect(
      (await replay((key) => store.oracleGet(key), [wren, careless, edie])).firstDifference,
    ).toMatchObject({
      kind: 'decision',
      turn: first('chad'),
      agent: 'chad',
    });
    expect(
      (await replay((key) => store.oracleGet(key), [wren, chad])).firstDifference,
    ).toMatchObject({
      kind: 'decision',
      turn: first('edie'),
      detail: 'the agent edie is missing',
    });
    const curious: Agent = {
      ...edie,
      decide: async (slice, oracle) => {
        await oracle.ask({ request: 'something new', call: () => 'news' }).catch(() => 'none');
        return edie.decide(slice, oracle);
      },
    };
    expect(
      (await replay((key) => store.oracleGet(key), [wren, chad, curious])).firstDifference,
    ).toMatchObject({
      kind: 'oracle_miss',
      turn: first('edie'),
      cause: { evidence: { request: 'something new' } },
    });
  });

  test('a domain that rules differently, an unanchored writ, an invented expiry', async () => {
    const other = defineDomain<any, any>({ ...newsroom.declared, version: '2' } as never);
    const all = { oracleGet: (key: string) => store.oracleGet(key) };
    await expect(
      replayRun(source(all), other, agents, { anchors: [operator.publicKey] }),
    ).rejects.toMatchObject({
      code: 'domain_mismatch',
    });
    const stranger = generateKeys(new Uint8Array(32).fill(9)).publicKey;
    const { firstDifference } = await replayRun(source(all), newsroom, agents, {
      anchors: [stranger],
    });
    expect(firstDifference).toMatchObject({ kind: 'entry', cause: { code: 'bad_writ' } });
    const hasty = await replayRun(source(all), newsroom, agents, {
      anchors: [operator.publicKey],
      approvals: { timeoutMs: 1 },
    });
    expect(hasty.firstDifference).toMatchObject({ kind: 'entry' });
    expect(hasty.firstDifference?.detail).toContain('different in expires');
  });

  test('an entry that is not there any more', async () => {
    const rows = await store.entries('desk', { limit: 100 });
    const shorter = new MemoryStore();
    await shorter.commit({ entries: rows.slice(0, -1), blobs: [] });
    const report = await replayRun({ ...source(store), store: shorter }, newsroom, agents, {
      anchors: [operator.publicKey],
    });
    expect(report).toMatchObject({ same: false, firstDifference: { kind: 'entry' } });
  });
});

describe('entries of other writers between turns are replayed as recorded', () => {
  const lead = keysOf(11);
  const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });

  /** A run during which another writer delegates to `child`, and revokes the delegated writ. */
  async function withDelegation(left: 'open' | 'untold' | 'answered' | 'concluded') {
    const recorded = await desk();
    const { trajectory, run, store: kept } = recorded;
    const granted = writFor(lead.publicKey, { trajectory: 'desk', budget: { usd: 100 } });
    await run({ maxTurns: 1 });
    const terms = {
      task: 'look',
      writ: granted,
      subject: 'helper',
      childTrajectoryId: 'child',
      privateKey: lead.privateKey,
    };
    const child = await trajectory.delegations.delegate(terms);
    await run({ maxTurns: 3 });
    const [start] = trajectory.delegations.open();
    if (left === 'untold') kept.commit = refusing(kept.commit.bind(kept));
    const writ = child.delegations.origin?.writ;
    const done = await trajectory.writs
      .revoke({ writ: writ as never, reason: 'lost', by: officer })
      .catch((error: unknown) => error);
    expect(done instanceof Error).toBe(left === 'untold');
    Reflect.deleteProperty(kept, 'commit');
    if (left === 'answered' || left === 'concluded')
      await child.delegations.answer({ finalAnswer: 'so' });
    if (left === 'concluded') await trajectory.delegations.conclude(start?.id as string);
    if (left !== 'untold') await run();
    return recorded;
  }

  /** The process ends before the child is notified. */
  function refusing(commit: MemoryStore['commit']): MemoryStore['commit'] {
    return (batch) => {
      if (batch.entries[0]?.trajectory_id === 'child') throw new Error('the process is gone');
      return commit(batch);
    };
  }

  test.each(['open', 'untold', 'answered', 'concluded'] as const)(
    'a delegation that was revoked, and is %s',
    async (left) => {
      const { store: kept, replay: again } = await withDelegation(left);
      const before = await kept.trajectories();
      expect(before).toHaveLength(2);
      const report = await again();
      expect(report).toMatchObject({ same: true });
      expect(report.firstDifference).toBeUndefined();
      expect(report.turns).toBeGreaterThan(3);
      expect(await kept.trajectories()).toEqual(before);
    },
  );
});

test('erased answers end a replay at the first turn needing one; turns stay', async () => {
  const recorded = await desk({}, 4);
  await recorded.run();
  const trajectory = await runtimeOver(recorded.store, [newsroom], { oracle: recorded.store }).open(
    'desk',
  );
  const rows = await recorded.store.entries('desk');
  const named = rows.map((row) => ({
    row,
    payload: readRow(row).payload as Partial<CommitPayload>,
  }));
  const { row, payload } = named.find(({ payload }) => (payload.observations?.length ?? 0) > 1)!;
  const keys = payload.observations!.map(({ oracle_key }) => oracle_key!);
  const by = { entries: [row.id], reason: 'request 17', writ: writFor('officer') };
  expect(await trajectory.erase(by)).toMatchObject({ ruling: 'committed' });
  const marks = await Promise.all(
    keys.map(async (key) => (await recorded.store.oracleGet(key))?.erased_by !== undefined),
  );
  expect(marks).toEqual(keys.map((_, n) => n < keys.length - 1));
  const from = { store: recorded.store, oracleStore: recorded.store, trajectoryId: 'desk' };
  const { same, firstDifference } = await replayRun(from, newsroom, recorded.agents, {
    anchors: [operator.publicKey],
  });
  expect(same).toBe(false);
  expect(firstDifference).toMatchObject({
    kind: 'erased',
    cause: { code: 'erased', evidence: { key: keys[0] } },
  });
});

test('the time limit is the longest of the requests; rules only shorten it', () => {
  const asked = (expires?: string) => ({
    entry: {
      payload: {
        ...{ kind: 'pending_approval', at: '2026-03-23T09:00:00.000000Z', expires },
        ...{ reason: 'invariant_escalated', proposal: { action: { name: 'act' } } },
      },
    },
  });
  const [short, long] = [
    asked('2026-03-23T09:01:00.000000Z'),
    asked('2026-03-23T10:00:00.000000Z'),
  ];
  expect(recordedTimeout([short, long, short] as never)).toBe(3_600_000);
  expect(recordedTimeout([short, asked()] as never)).toBe('never');
  expect(recordedTimeout([])).toBe('never');
});
