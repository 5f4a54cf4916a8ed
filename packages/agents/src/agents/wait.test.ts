import { seededRandom } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { desk, newsroom } from '../../../../tests/support/ledger/newsroom.ts';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import type { Agent, AgentOracle, Decision, LastRuling } from './index.ts';

const NOON = '2026-03-23T12:00:00.000000Z';

function agentOf(
  decide: (slice: any, oracle: AgentOracle) => Decision | Promise<Decision>,
  role = 'writer',
): Agent {
  return { name: 'w', role: { name: role, params: {} }, writ: writFor('w'), decide };
}

const none = { counsel: () => ({ do: 'later' }) as const };

test('an agent that waits until an instant is asked again at that instant', async () => {
  const { run, replay, hand } = await desk();
  const times: string[] = [];
  const agents = [
    agentOf(async (_, oracle) => {
      const now = await oracle.now();
      times.push(now);
      return now < NOON ? { waitUntil: new Date('2026-03-23T12:00:00Z') } : 'done';
    }),
  ];
  expect(await run({}, agents)).toMatchObject({ ended: 'waiting', turns: 1, wakeAt: NOON });
  expect(await run({}, agents), 'too early').toMatchObject({
    ended: 'waiting',
    turns: 1,
    wakeAt: NOON,
  });
  hand.forward(4 * 3_600_000);
  const end = await run({}, agents);
  expect(end).toMatchObject({ ended: 'done', turns: 2 });
  expect(end).not.toHaveProperty('wakeAt');
  expect(times).toHaveLength(2);
  expect(await replay({}, agents)).toMatchObject({ same: true, turns: 2 });
});

test.each<[string, unknown]>([
  ['a word', 'soon'],
  ['a number', 5],
  ['nothing', undefined],
])('an agent cannot wait until %s', async (_, waitUntil) => {
  const { run } = await desk();
  await expect(run({}, [agentOf(() => ({ waitUntil }) as never)])).rejects.toMatchObject({
    code: 'function_failed',
    message: expect.stringMatching(
      /Return an action with args,|The arbiter chose|The decision of the counselor/,
    ),
  });
});

/** An editor whose article needs the chief, and who then waits. */
function editor(seen: (LastRuling | null)[]): Agent {
  return agentOf(async ({ drafts, printed }, oracle) => {
    const ruling = await oracle.ruling();
    seen.push(ruling);
    if (drafts['a'] === undefined || printed.length > 0 || ruling?.ruling === 'rejected')
      return 'done';
    return ruling === null ? { action: 'print', args: 'a' } : 'wait';
  }, 'editor');
}

async function withDraft(options: Parameters<typeof desk>[0] = {}) {
  const made = await desk(options);
  const { trajectory } = made;
  const args = { title: 'a', text: 'Ms Doe slept', at: '' };
  await trajectory.propose({ action: 'write', role: 'writer', args, writ: writFor('w') } as never);
  await trajectory.propose({
    action: 'check',
    role: 'checker',
    args: 'a',
    writ: writFor('w'),
  } as never);
  return made;
}

test.each(['approve', 'reject'] as const)(
  'a wait ends with the decision on the own proposal: %s',
  async (does) => {
    const { run, replay, trajectory } = await withDraft();
    const seen: (LastRuling | null)[] = [];
    const agents = [editor(seen)];
    expect(await run(none, agents)).toMatchObject({ ended: 'pending' });
    expect(seen).toEqual([null, expect.objectContaining({ ruling: 'escalated' })]);
    const [open] = trajectory.approvals.pending();
    const by = {
      principal: 'chief of desk',
      method: 'test',
      reason: 'r',
      digest: open!.payload.digest,
    };
    await trajectory.approvals[does](open!.id, by);
    expect(await run(none, agents)).toMatchObject({ ended: 'done' });
    expect(seen.at(-1)).toMatchObject({ ruling: does === 'approve' ? 'committed' : 'rejected' });
    expect(await replay({}, agents)).toMatchObject({ same: true });
  },
);

test('a wait ends with the expiry of the own proposal', async () => {
  const { run, hand } = await withDraft({ approvals: { timeoutMs: 60_000 } });
  const seen: (LastRuling | null)[] = [];
  const agents = [editor(seen)];
  expect(await run(none, agents)).toMatchObject({ ended: 'pending' });
  const { length } = seen;
  hand.forward(61_000);
  await run(none, agents);
  expect(seen.length).toBeGreaterThan(length);
});

test('a ruling of another process comes with the slice after it', async () => {
  const { run, store, replay } = await withDraft();
  /** Approves in another process, whose entry the run has not read. */
  const approve = async (): Promise<void> => {
    const ports = { random: seededRandom('beside') };
    const beside = await runtimeOver(store, [newsroom], { oracle: store, ports }).open('desk');
    const [open] = beside.approvals.pending();
    if (open !== undefined)
      await beside.approvals.approve(open.id, {
        principal: 'chief of desk',
        method: 'test',
        reason: 'r',
      });
  };
  let approving: (() => Promise<void>) | undefined = approve;
  const seen: [printed: number, ruling: string | undefined][] = [];
  const agents = [
    agentOf(async ({ printed }, oracle) => {
      await approving?.();
      const ruling = await oracle.ruling();
      seen.push([printed.length, ruling?.ruling]);
      if (ruling === null) return { action: 'print', args: 'a' };
      return printed.length > 0 ? 'done' : 'wait';
    }, 'editor'),
  ];
  // A turn of the counselor is one of them.
  expect(await run(none, agents)).toMatchObject({ ended: 'done', turns: 3 });
  expect(seen).toEqual([
    [0, undefined],
    [1, 'committed'],
  ]);
  approving = undefined;
  expect(await replay({}, agents)).toMatchObject({ same: true });
});

test('changed agents may go on after a ruled turn, if the caller says so', async () => {
  const { run } = await desk();
  const write = (title: string) =>
    agentOf(({ drafts }) =>
      Object.keys(drafts).length > 1
        ? 'done'
        : { action: 'write', args: { title, text: 'x', at: '' } },
    );
  await run({ maxTurns: 1 }, [write('a')]);
  await expect(run({}, [write('b')])).rejects.toMatchObject({ code: 'nondeterministic_agent' });
  expect(await run({ continueChanged: true }, [write('b')])).toMatchObject({
    ended: 'done',
    turns: 3,
  });
});
