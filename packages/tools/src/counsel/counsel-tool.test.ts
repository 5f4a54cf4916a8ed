import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { tally } from '../../../../tests/support/tools/effect-sink.ts';
import {
  type CounselAnswer,
  CounselDesk,
  type CounselToolOptions,
  chooseByCounsel,
  counselTool,
} from './index.ts';

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

async function stage(ask: CounselToolOptions['ask'], deadlineMs?: number) {
  const tool = counselTool({
    name: 'counsel.choose',
    ask,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  const assize = runtimeOver(new MemoryStore(), [tally], { tools: [tool] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  /** Three branches. The second fails. */
  const choose = (options: { signal?: AbortSignal; writ?: ReturnType<typeof writFor> } = {}) =>
    trajectory.transaction({ writ: writFor('alice'), retries: 0, ...options }, async (tx) => {
      const value = await tx.speculate<number>(
        [() => 0, () => Promise.reject(new Error('it broke')), () => 2],
        chooseByCounsel(tx, 'counsel.choose', 'Which of them?', (n) => ({ n })),
      );
      tx.propose(COUNT);
      return value;
    });
  return { choose };
}

const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => 'done',
    (error) => error.reason ?? error.message,
  );

const asked = {
  question: 'Which of them?',
  branches: [
    { failed: false, summary: { n: 0 } },
    { failed: true, why: 'it broke' },
    { failed: false, summary: { n: 2 } },
  ],
};

describe('a counselor choosing a branch', () => {
  test('receives the result of each branch, and is recorded with the decision', async () => {
    const desk = new CounselDesk();
    const { choose } = await stage(desk.ask);
    const done = choose();
    while (desk.open().length === 0) await new Promise(setImmediate);
    const [question] = desk.open();
    expect(question).toEqual({ ...asked, id: expect.any(String) });
    desk.decide(question!.id, { chosen: 2, by: 'human:ada', reason: 'it is shorter' });
    expect(desk.open()).toEqual([]);
    const outcome = await done;
    expect(outcome).toMatchObject({ value: 2, ruling: { ruling: 'committed' } });
    const { observations } = JSON.parse((outcome.ruling as any).entry.payload);
    const value = { asked, chosen: 2, by: 'human:ada', reason: 'it is shorter' };
    expect(observations).toEqual([
      { name: 'counsel.choose#1.input', value: expect.objectContaining({ salted: true }) },
      { name: 'counsel.choose#1', value },
    ]);
    expect(errorOf(() => desk.decide(question!.id, { chosen: 0, by: 'human:eve' }))).toMatchObject({
      code: 'wrong_state',
      message: expect.stringContaining('It was answered, or its caller'),
    });
  });

  test.each<[string, unknown, string]>([
    ['none', { chosen: null, by: 'human:ada' }, 'no_branch'],
    ['one that failed', { chosen: 1, by: 'human:ada' }, 'bad_resolution'],
    ['one that there is not', { chosen: 3, by: 'human:ada' }, 'bad_resolution'],
    ['half a one', { chosen: 0.5, by: 'human:ada' }, 'bad_resolution'],
    ['one, as nobody', { chosen: 0, by: ' ' }, 'bad_resolution'],
    ['nothing', undefined, 'bad_resolution'],
  ])('and says %s chooses none', async (_, answer, code) => {
    const { choose } = await stage(() => answer as CounselAnswer);
    expect(await codeOf(choose())).toBe(code);
  });

  test('can’t be had: the transaction is undone', async () => {
    const { choose } = await stage(() => Promise.reject(new Error('the line is dead')));
    expect(await codeOf(choose())).toBe('tool_failed');
  });

  test('is not waited for longer than was said, and chooses none then', async () => {
    const desk = new CounselDesk();
    const { choose } = await stage(desk.ask, 5);
    expect(await codeOf(choose())).toBe('no_branch');
    expect(desk.open()).toEqual([]);
    const silent = await stage(() => new Promise<never>(() => undefined), 5);
    expect(await codeOf(silent.choose())).toBe('no_branch');
  });

  test('is not waited for when the transaction has ended', async () => {
    const desk = new CounselDesk();
    const { choose } = await stage(desk.ask);
    const over = new AbortController();
    const done = codeOf(choose({ signal: over.signal }));
    while (desk.open().length === 0) await new Promise(setImmediate);
    over.abort(new Error('enough'));
    expect(await done).toBe('deadline');
    while (desk.open().length > 0) await new Promise(setImmediate);
  });

  test('is asked only by a caller with a writ to ask', async () => {
    const { choose } = await stage(() => ({ chosen: 0, by: 'human:ada' }));
    expect(await codeOf(choose({ writ: writFor('alice', { actions: ['count'] }) }))).toBe(
      'not_authorised',
    );
  });
});

test('a desk refuses an invalid choice, and the question stays open', async () => {
  const desk = new CounselDesk();
  const done = desk.ask(asked as never, new AbortController().signal);
  const [{ id } = { id: '' }] = desk.open();
  for (const given of [
    { chosen: 1, by: 'a' },
    { chosen: 7, by: 'a' },
    { chosen: 0, by: '' },
    null,
    { chosen: 0, by: 'a', reason: 7 },
  ])
    expect(errorOf(() => desk.decide(id, given as never))).toMatchObject({
      reason: 'bad_resolution',
    });
  expect(desk.open()).toHaveLength(1);
  desk.decide(id, { chosen: null, by: 'a' });
  expect(await done).toEqual({ chosen: null, by: 'a' });
  const over = AbortSignal.abort(new Error('too late'));
  await expect(desk.ask(asked as never, over)).rejects.toThrow('too late');
});
