/** Commands in a sandbox: the rules judge only what leaves it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Past } from './fixture.ts';
import { Judge } from './judge.ts';
import { type Placed, Reality } from './reality.ts';
import { SANDBOXED_SETS } from './rule-sets.ts';

const [company] = SANDBOXED_SETS;
const rules = company?.text ?? '';
const bash = (command: string, more = {}) => ({ tool: 'Bash', input: { command, ...more } });
const DYNAMIC = bash('x=.en; sh -c "cat $x""v"');
const OUTSIDE = { dangerouslyDisableSandbox: true };

let reality: Reality;
const verdict = async (
  call: ReturnType<typeof bash>,
  sandbox: boolean | 'other' = true,
  past: Past = 'plain',
) => {
  const judge = new Judge({ rules, sandbox });
  const { world } = reality.placed.find(({ at }) => at.past === past) as Placed;
  try {
    return (await judge.judge(call, world)).was;
  } finally {
    await judge.close();
  }
};

beforeAll(() => {
  const pasts: Past[] = ['plain', 'committed'];
  reality = new Reality(pasts.map((past) => ({ family: 'sandboxed', past, call: bash('true') })));
});
afterAll(() => reality.remove());

describe('in a sandbox of the rules in force', () => {
  test.each([
    ['text that is known only when it runs', DYNAMIC],
    ['a script', bash('sh scripts/check.sh')],
    ['the tests of the project', bash('npm test')],
    ['a glob', bash('wc -l src/*.js')],
    ['a recursion above a hidden file', bash('grep -r SECRET .')],
    ['a removal in the project', bash('rm -r build')],
    ['a use of Git about files that cannot be written there', bash('git checkout -b x')],
  ])('%s is let through', async (_, call) => expect(await verdict(call)).toBe('allow'));

  test.each([
    ['a push', 'deny', bash('git push origin main')],
    ['an address', 'ask', bash('curl -s https://api.example.org/v1/status')],
    ['a hidden file by its name', 'deny', bash('cat .env')],
    ['a file that Git runs later', 'ask', bash('echo x > .git/hooks/pre-commit')],
    ['the whole command outside of it', 'ask', bash('sh -c "$x"', OUTSIDE)],
  ])('%s is judged', async (_, was, call) => expect(await verdict(call)).toBe(was));
});

test('commands of Git cannot read a hidden file that Git has a copy of', async () => {
  expect(await verdict(bash('git log -p'))).toBe('allow');
  expect(await verdict(bash('git log -p'), true, 'committed')).toBe('deny');
  expect(await verdict(bash('grep -r SECRET .'), true, 'committed')).toBe('allow');
});

test.each([false, 'other'] as const)('a command is judged whole with the sandbox %s', async (is) =>
  expect(await verdict(DYNAMIC, is)).toBe('ask'),
);
