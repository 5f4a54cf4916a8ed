/** One permission for one call, whichever agent program asks. */
import { describe, expect, test } from 'vitest';
import { type Hooks, hooksOf } from '../support/agents/hooks.ts';

const RULES = `
id: repo
rules:
  - { id: look, allow: '*', class: read }
  - { id: git, allow: shell/git }
  - { id: push, ask: shell/git, where: [{ path: /argv/0, is: push }] }
`;

const bash = (command: string) => ({ command });

describe.each(['claude-code', 'codex'])('%s', (program) => {
  const hooks = (): Promise<Hooks> => hooksOf(program, RULES);

  test('an approval is for exactly that call, once', async () => {
    const { ask, approve, state } = await hooks();
    const push = bash('git push');
    expect((await ask('Bash', push)).reason).toContain('/inbox/');
    expect((await ask('Bash', push)).permission).toBe('deny');
    await approve();
    expect((await ask('Bash', bash('git push --force'))).permission).toBe('deny');
    const both = await Promise.all([ask('Bash', push), ask('Bash', push), ask('Bash', push)]);
    expect(both.filter(({ permission }) => permission === 'allow')).toHaveLength(1);
    expect((await ask('Bash', push)).permission).toBe('deny');
    expect((await state()).calls['s1.toolu_1']).toMatchObject({
      approvedBy: ['human:grace'],
      begunAs: expect.any(String),
    });
  });

  test('an approval in one folder is not one in another', async () => {
    const { ask, approve } = await hooks();
    const clean = bash('make clean');
    await ask('Bash', clean, { cwd: '/srv/staging' });
    await approve();
    expect((await ask('Bash', clean, { cwd: '/srv/prod' })).permission).toBe('deny');
    expect((await ask('Bash', clean, { cwd: '/srv/staging' })).permission).toBe('allow');
  });

  test('the same question asked twice concurrently is one permission', async () => {
    const { ask } = await hooks();
    const same = { tool_use_id: 'toolu_same' };
    const all = await Promise.all([1, 2, 3, 4].map(() => ask('Bash', bash('git status'), same)));
    expect(all.filter(({ permission }) => permission === 'allow')).toHaveLength(1);
    expect((await ask('Bash', bash('git status'), same)).reason).toContain('let through already');
    expect((await ask('Bash', bash('git log'), same)).reason).toContain('other arguments');
  });

  test('a person who decides in time answers the question itself', async () => {
    const { ask, approve } = await hooks();
    const asked = ask('Bash', bash('git push'), {}, 'wait=30');
    await expect
      .poll(async () =>
        approve().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect((await asked).permission).toBe('allow');
  });
});
