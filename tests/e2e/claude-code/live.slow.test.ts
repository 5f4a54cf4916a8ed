/** The real Claude Code, whose calls a real server rules on. The model follows a script. */
import { describe, expect, test } from 'vitest';
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
});
