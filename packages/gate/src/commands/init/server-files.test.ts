import { expect, test } from 'vitest';
import { readRules } from '#gateway';
import { CompiledRules } from '../../gateway/judge/compiled-rules.ts';
import { firstRules } from './server-files.ts';

test('the first rules hold in each project that a session begins in', () => {
  const rules = new CompiledRules(readRules(firstRules('${project}')).rules);
  const answer = (project: string, path: string): string => {
    const parts = [{ tool: 'files/edit', args: { path } }];
    const call = { agent: 'coder', tool: 'claude-code/Edit', args: {}, project, parts };
    const { denied, asks } = rules.judge(call);
    return denied === undefined ? (asks.length === 0 ? 'allow' : 'ask') : 'deny';
  };
  for (const [here, there] of [
    ['/one', '/two'],
    ['/two', '/one'],
  ] as const) {
    expect(answer(here, `${here}/src/a.ts`)).toBe('allow');
    expect(answer(here, `${there}/src/a.ts`)).toBe('ask');
    expect(answer(here, `${here}/.env`)).toBe('deny');
  }
});
