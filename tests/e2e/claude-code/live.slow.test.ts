/** The real Claude Code, whose calls a real server rules on. The model follows a script. */
import { describe, expect, test } from 'vitest';
import { startDelayed } from '../../support/claude-code/delayed.ts';
import { use } from '../../support/claude-code/messages-api.ts';
import { claudeProgram } from '../../support/claude-code/program.ts';
import { append, linesIn, ruledClaude } from '../../support/claude-code/ruled.ts';

const errorWith = (text: string) => ({ is_error: true, content: expect.stringContaining(text) });

describe.skipIf(claudeProgram() === undefined)('Claude Code (absent without npm ci --prefix peers)', () => {
  test('a call that the rules allow runs once and is closed', async () => {
    const { run, story } = await ruledClaude({ work: [[append('toolu_1', 'a')], [append('toolu_2', 'b')]] });
    const { told } = await run({ prompt: 'work' });
    expect(told).toMatchObject([{ is_error: false }, { is_error: false }]);
    expect(await story()).toEqual({
      lines: { open: ['a', 'b'] },
      calls: { toolu_1: 'done', toolu_2: 'done' },
      valid: true,
    });
  });

  test('a call that the rules deny does not run, and the model reads why', async () => {
    const { run, story, state } = await ruledClaude({ work: [[append('toolu_1', 'a', 'closed')]] });
    const { told, sessionId = '' } = await run({ prompt: 'work' });
    expect(told).toMatchObject([errorWith('It stays closed.')]);
    expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
    expect((await state()).sessions).toMatchObject({ [sessionId]: { endedAt: expect.any(String) } });
  });

  test('a held call runs when a person approves it in time', async () => {
    const { run, story, decide } = await ruledClaude(
      { work: [[append('toolu_1', 'a', 'held')]] },
      { query: 'wait=25' },
    );
    const running = run({ prompt: 'work' });
    await expect
      .poll(() =>
        decide('approve').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect((await running).told).toMatchObject([{ is_error: false }]);
    expect(await story()).toEqual({ lines: { held: ['a'] }, calls: { toolu_1: 'done' }, valid: true });
  });

  test('a held call is refused, and after its approval runs once', async () => {
    const call = (id: string) => [append(id, 'a', 'held')];
    const { run, story, decide } = await ruledClaude({
      'first time': [call('toolu_1'), call('toolu_2')],
      'next time': [call('toolu_3'), call('toolu_4')],
    });
    const first = await run({ prompt: 'first time' });
    expect(first.told).toMatchObject([errorWith('A person looks first.'), errorWith('a person has to approve')]);
    expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
    await decide('approve');
    const { told } = await run({ prompt: 'next time', resume: first.sessionId as string });
    expect(told).toMatchObject([{ is_error: false }, errorWith('a person has to approve')]);
    expect(await story()).toEqual({ lines: { held: ['a'] }, calls: { toolu_3: 'done' }, valid: true });
  });

  test('a deferred call runs once when it is resumed after its approval', async () => {
    const { run, story, decide } = await ruledClaude(
      { work: [[append('toolu_1', 'a', 'held')]] },
      { query: 'wait=0&pending=defer' },
    );
    const { sessionId: resume = '', result } = await run({ prompt: 'work' });
    expect(result).toMatchObject({ stop_reason: 'tool_deferred', deferred_tool_use: { id: 'toolu_1' } });
    expect((await run({ resume })).result).toMatchObject({ stop_reason: 'tool_deferred' });
    await decide('approve');
    expect((await run({ resume })).told).toMatchObject([{ tool_use_id: 'toolu_1', is_error: false }]);
    expect(await run({ resume })).toMatchObject({ code: 1, told: [] });
    expect(await story()).toEqual({ lines: { held: ['a'] }, calls: { toolu_1: 'done' }, valid: true });
  });

  test('a call that a person has to confirm is refused without a terminal', async () => {
    const { run, story } = await ruledClaude({ work: [[append('toolu_1', 'a')]] }, { query: 'wait=0&confirm=always' });
    expect((await run({ prompt: 'work' })).told).toMatchObject([{ is_error: true }]);
    expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'failed' }, valid: true });
  });

  test('a rule of the user beats the permission, and the call is not made', async () => {
    const { run, story, settings } = await ruledClaude({
      work: [[append('toolu_1', 'a')], [append('toolu_2', 'b')]],
    });
    settings('wait=0', { permissions: { deny: ['Bash(echo a:*)'], ask: ['Bash(echo b:*)'] } });
    expect((await run({ prompt: 'work' })).told).toMatchObject([{ is_error: true }, { is_error: true }]);
    expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'failed', toolu_2: 'failed' }, valid: true });
  });

  test('without the server nothing runs', async () => {
    const { run, stage, server } = await ruledClaude({ work: [[append('toolu_1', 'a')]] });
    await server.stop();
    expect((await run({ prompt: 'work' })).told).toMatchObject([errorWith('onFailure')]);
    expect(linesIn(stage)).toEqual({});
  });

  test('an answer that comes too late blocks the call, and no permission is left', async () => {
    const { run, story, settings, server } = await ruledClaude({ work: [[append('toolu_1', 'a')]] });
    const slow = await startDelayed(server.url, 'PreToolUse', 3_000);
    settings('wait=0', {}, { url: slow.url, timeout: 1 });
    expect((await run({ prompt: 'work' })).told).toMatchObject([errorWith('timed out')]);
    expect(slow.answered).toEqual(['allow']);
    expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'failed' }, valid: true });
  });

  test('a question whose asker is gone takes no approval', async () => {
    const call = (id: string) => [append(id, 'a', 'held')];
    const { run, story, settings, decide } = await ruledClaude({
      'first time': [call('toolu_1')],
      'next time': [call('toolu_2')],
    });
    settings('wait=30', {}, { timeout: 1 });
    const { told, sessionId: resume = '' } = await run({ prompt: 'first time' });
    expect(told).toMatchObject([errorWith('timed out')]);
    await decide('approve');
    expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'to begin' }, valid: true });
    expect((await run({ prompt: 'next time', resume })).told).toMatchObject([{ is_error: false }]);
    expect(await story()).toEqual({ lines: { held: ['a'] }, calls: { toolu_2: 'done' }, valid: true });
  });

  test('a run that is killed in a call leaves it in doubt, and it is told', async () => {
    const command = 'echo a >> open/sink.txt; sleep 30; echo b >> open/sink.txt';
    const { run, stage, story } = await ruledClaude({
      work: [[use('toolu_1', 'Bash', { command })]],
      'go on': [[append('toolu_2', 'c')]],
    });
    let pid = 0;
    const running = run({ prompt: 'work', started: (started) => (pid = started) });
    await expect.poll(() => linesIn(stage)).toEqual({ open: ['a'] });
    process.kill(-pid, 'SIGKILL');
    const { sessionId: resume = '' } = await running;
    expect((await story()).calls).toEqual({ toolu_1: 'open' });
    const next = await run({ prompt: 'go on', resume });
    expect(next.out).toContain('1 calls have no known outcome: claude-code/Bash');
    expect(await story()).toEqual({
      lines: { open: ['a', 'c'] },
      calls: { toolu_1: 'open', toolu_2: 'done' },
      valid: true,
    });
  });

  test('two sessions at once have one approval between them', async () => {
    const { run, story, decide, state } = await ruledClaude({
      work: [[append('toolu_1', 'a')], [append('toolu_2', 'b', 'held')], [append('toolu_3', 'c')]],
    });
    expect((await run({ prompt: 'work' })).told).toHaveLength(3);
    await decide('approve');
    const both = await Promise.all([run({ prompt: 'work' }), run({ prompt: 'work' })]);
    expect(both.flatMap(({ told }) => told).filter(({ is_error }) => is_error === true)).toHaveLength(1);
    const { lines, valid } = await story();
    expect({ open: lines['open']?.toSorted(), held: lines['held'], valid }).toEqual({
      open: ['a', 'a', 'a', 'c', 'c', 'c'],
      held: ['b'],
      valid: true,
    });
    const { calls, sessions } = await state();
    expect(Object.keys(sessions)).toHaveLength(3);
    expect(Object.values(calls).map(({ outcome }: any) => outcome)).toEqual(Array(7).fill('done'));
  });
});
