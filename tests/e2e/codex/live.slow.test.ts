/** The real Codex, whose calls a real server rules on. The model follows a script. */
import { describe, expect, test } from 'vitest';
import { codexProgram } from '../../support/codex/program.ts';
import { append, ruledCodex } from '../../support/codex/ruled.ts';

describe.skipIf(codexProgram() === undefined)('Codex (absent without npm ci --prefix peers)', () => {
  test('a call that the rules allow runs once and is closed', async () => {
    const { run, story } = await ruledCodex({ work: [[append('call_1', 'a')], [append('call_2', 'b')]] });
    const { code } = await run({});
    expect({ code, ...(await story()) }).toEqual({
      code: 0,
      lines: { open: ['a', 'b'] },
      calls: { call_1: 'done', call_2: 'done' },
      valid: true,
    });
  });

  test('a call that the rules deny does not run, and the model reads why', async () => {
    const { run, story, state, told } = await ruledCodex({ work: [[append('call_1', 'a', 'closed')]] });
    const { threadId = '' } = await run({});
    expect(told('call_1')).toContain('It stays closed.');
    expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
    expect((await state()).sessions).toMatchObject({ [threadId]: { about: 'Codex', endedAt: expect.any(String) } });
  });

  test('a held call is refused, and after its approval runs once', async () => {
    const call = (id: string) => [append(id, 'a', 'held')];
    const { run, story, decide, told } = await ruledCodex({
      'first time': [call('call_1'), call('call_2')],
      'next time': [call('call_3'), call('call_4')],
    });
    const { threadId: resume = '' } = await run({ prompt: 'first time' });
    expect([told('call_1'), told('call_2')]).toEqual(Array(2).fill(expect.stringContaining('a person has to approve')));
    expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
    await decide('approve');
    await run({ prompt: 'next time', resume });
    expect(told('call_4')).toContain('a person has to approve');
    expect(await story()).toEqual({ lines: { held: ['a'] }, calls: { call_3: 'done' }, valid: true });
  });
});
