/** Mined rules that allow: each does to recorded calls what its support and its backtest say. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforcing, readRules, SECRETS } from '#domains/gateway';
import { mineStore, withRules } from '#mining';
import { backtestRules } from '#replay';
import { CompiledRules } from '../../packages/gate/src/gateway/judge/compiled-rules.ts';
import { cases, hasUsualCases } from '../support/cases.ts';
import { desk } from '../support/domains/gateway/desk.ts';

const BASE = `id: shop
tools:
  crm/get: { class: read }
  bank/pay: { class: irreversible }
rules:
  - { id: list, allow: shell/ls }
  - { id: remove, ask: shell/rm }
`;
const PLACES = JSON.stringify(SECRETS.map((name) => `**/${name}`));
const KEYS = `  - { id: secrets, deny: ['files/*', 'shell/*'], path: ${PLACES} }\n`;
const OBSERVED = 'mode: observe\nuntil: 2099-01-01\n';

const program = (
  name: string,
  toolClass: string,
  command: string,
  argv: string[],
  path: string,
) => ({
  server: 'shell',
  tool: name,
  args: { argv, command, class: toolClass, paths: [path], cwd: '/repo' },
});
const place = fc.constantFrom('/repo', '/repo/src', '/opt/data', '/repo/.env');
const part = fc.oneof(
  fc
    .record({
      use: fc.constantFrom<[string, string, string, string[]]>(
        ['npm', 'irreversible', 'test', ['test']],
        ['npm', 'irreversible', 'publish', ['publish']],
        ['node', 'irreversible', '', ['--test']],
        ['node', 'irreversible', '', ['deploy.js']],
        ['git', 'irreversible', 'push', ['push']],
        ['cat', 'read', '', ['a']],
        ['cat', 'read', '', ['-n', 'a']],
        ['ls', 'read', '', []],
        ['rm', 'irreversible', '', ['a']],
        ['claude', 'irreversible', '', ['-p', 'x']],
      ),
      path: place,
    })
    .map(({ use: [name, of, command, argv], path }) => program(name, of, command, argv, path)),
  place.map((path) => ({ server: 'files', tool: 'read', args: { path } })),
  fc
    .constantFrom('a', 'b')
    .map((host) => ({ server: 'web', tool: 'fetch', args: { url: `https://${host}.example/` } })),
);
const step = fc.record({
  agent: fc.constantFrom('ada', 'ben'),
  call: fc.oneof(
    { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 2 }) },
    fc.constantFrom('crm/get', 'bank/pay'),
  ),
  answer: fc.constantFrom('approve', 'approve', 'approve', 'refuse', 'wait'),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Calls that no mined rule lets through, and those that need an approval each. */
const NEVER = /deploy|publish|"claude"|\.env/;
const SENDS = /push|bank/;

test('a mined rule lets its calls through, and no other question', async () => {
  const tools = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      fc.boolean(),
      fc.boolean(),
      async (steps, isObserved, hasSecrets) => {
        const text = `${isObserved ? OBSERVED : ''}${BASE}${hasSecrets ? KEYS : ''}`;
        const made = await desk(text);
        const calls: { of: Step; answer: string }[] = [];
        for (const of of steps) {
          const ruling =
            typeof of.call === 'string'
              ? await made.call(of.agent, of.call)
              : await made.call(
                  of.agent,
                  'claude-code/Bash',
                  {},
                  { parts: of.call, project: '/repo' },
                );
          const isAsked = ruling.ruling === 'escalated';
          if (isAsked && of.answer === 'approve') await made.approve(ruling);
          if (isAsked && of.answer === 'refuse')
            await made.trajectory.approvals.reject(ruling.pending, {
              ...{ principal: 'human:grace', method: 'test', reason: 'no' },
            });
          calls.push({ of, answer: isAsked ? of.answer : ruling.ruling });
        }
        const options = { minSupport: 1, kinds: ['allow' as const], backtest: backtestRules };
        const { candidates } = await mineStore(made.store, options);
        await made.assize.close();
        const judge = (file: string, { of: { agent, call } }: (typeof calls)[number]) => {
          const whole = typeof call === 'string' ? { tool: call } : { tool: 'claude-code/Bash' };
          const parts = typeof call === 'string' ? [] : call;
          const { denied, asks } = new CompiledRules(enforcing(readRules(file).rules)).judge({
            ...{ agent, ...whole, args: {}, project: '/repo' },
            parts: parts.map((each) => ({
              tool: `${each.server}/${each.tool}`,
              args: each.args as never,
            })),
          });
          return denied !== undefined ? 'deny' : asks.length > 0 ? 'ask' : 'allow';
        };
        const before = calls.map((call) => judge(text, call));
        const changedBy = (file: string) =>
          calls.filter((call, i) => judge(file, call) !== before[i]);
        for (const { rule, written, support } of candidates) {
          const changed = changedBy(withRules(text, [written!]));
          tools.add(rule.tool);
          for (const { of, answer } of changed) {
            // Parts that the rules let through already do not count.
            const asked =
              typeof of.call === 'string' ? of.call : of.call.filter(({ tool }) => tool !== 'ls');
            const words = JSON.stringify(asked);
            expect(words).not.toMatch(NEVER);
            if (SENDS.test(words)) expect(answer).toBe('approve');
            expect(answer).not.toBe('refuse');
          }
          for (const call of changed)
            expect(judge(withRules(text, [written!]), call)).toBe('allow');
          const through = changed.filter(({ answer }) => answer !== 'wait');
          expect(support.calls).toBe(through.length);
          expect(support.agents).toEqual([...new Set(through.map(({ of }) => of.agent))].sort());
          expect(written!.backtest!.changes).toEqual({ escalated_to_committed: changed.length });
        }
        const all = withRules(
          text,
          candidates.map(({ written }) => written!),
        );
        for (const { of, answer } of changedBy(all))
          expect([answer, of]).not.toEqual(['refuse', of]);
        // Without a refusal, harmless calls of one part have a rule.
        const isSimple = steps.every(({ call }) => typeof call === 'string' || call.length === 1);
        for (const [i, call] of isSimple ? calls.entries() : []) {
          const isPlain =
            /^\[\{"server":"(?:web|files)"[^}]*(?:example|\/repo\/src|data)[^}]*\}\}\]$/;
          const words = JSON.stringify(call.of.call);
          if (before[i] === 'ask' && call.answer !== 'wait' && isPlain.test(words))
            if (!calls.some(({ answer }) => answer === 'refuse'))
              expect(judge(all, call)).toBe('allow');
        }
      },
    ),
    { numRuns: cases(500) },
  );
  if (hasUsualCases())
    expect([...tools].sort()).toEqual([
      ...['bank/pay', 'crm/get', 'files/read', 'shell/cat', 'shell/git', 'shell/node', 'shell/npm'],
      'web/fetch',
    ]);
});
