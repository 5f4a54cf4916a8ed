import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CompiledRules, type Verdict } from './judge/compiled-rules.ts';
import { isUnder } from './judge/path-name.ts';
import { SECRETS } from './judge/secrets.ts';
import { readRules } from './rules/read-rules.ts';
import { NO_RULES, type Rule, type Rules } from './rules/rules.ts';
import { profileOf, type SandboxProfile } from './sandbox-profile.ts';

const PLACE = { project: '/home/ada/repo', home: '/home/ada' };

function profile(text: string, more = {}): SandboxProfile {
  return profileOf(readRules(`id: x\n${text}`).rules, { ...PLACE, ...more });
}

/** The runtime: the deepest entry decides, and what can be written can be read. */
function canRead({ unreadable, readable, writable }: SandboxProfile, path: string): boolean {
  const depth = (tops: readonly string[]) =>
    Math.max(
      -1,
      ...tops.filter((top) => isUnder(path, top)).map((top) => (top === '/' ? 0 : top.length)),
    );
  return Math.max(depth(readable), depth(writable)) >= depth(unreadable);
}

function canWrite({ writable, unwritable }: SandboxProfile, path: string): boolean {
  const isBelow = (tops: readonly string[]) => tops.some((top) => isUnder(path, top));
  return isBelow(writable) && !isBelow(unwritable);
}

function canReach({ hosts, refusedHosts }: SandboxProfile, url: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const own = port || (protocol === 'http:' ? '80' : '443');
  const isMet = (entry: string): boolean => {
    const [name = '', at = own] = entry.split(':');
    const isName = name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name;
    return isName && at === own;
  };
  return hosts.some(isMet) && !refusedHosts.some(isMet);
}

const PATHS = ['/', '/etc', '/etc/a', '/home/ada', '/home/ada/.ssh', '/home/ada/.ssh/key']
  .concat(['/home/ada/go/bin/x', '/home/ada/repo', '/home/ada/repo/src', '/home/ada/repo/src/a'])
  .concat(['/home/ada/repo/.env', '/home/ada/other', '/home/ada/other/b', '/home/adam']);
const HOSTS = ['a.com', '*.a.com', 'b.a.com', '*.b.a.com', 'a.com:8443', '*.com', 'localhost'];
const TOOLS = [
  '*',
  'files/*',
  'shell/*',
  'files/read',
  'shell/read',
  'shell/write',
  'web/fetch',
  'shell/rm',
];

const HAS_PATH = { path: '/path', exists: true };
const EFFECT = fc.constantFrom<Rule['effect']>('allow', 'allow', 'deny', 'ask');
const someOf = <T>(values: readonly T[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });

const aRule = fc.oneof(
  fc.record({ effect: EFFECT, tools: fc.constant<string[]>(['web/fetch']), host: someOf(HOSTS) }),
  fc.record({ effect: EFFECT, tools: someOf(TOOLS), path: someOf(PATHS) }),
  fc.record(
    {
      effect: EFFECT,
      tools: someOf(TOOLS),
      class: fc.constantFrom(['read'], ['reversible'], ['irreversible', 'read']),
      agents: fc.constantFrom(['a'], ['b']),
      path: someOf(PATHS),
      host: someOf(HOSTS),
      where: fc.constantFrom([HAS_PATH], [HAS_PATH, { path: '/path', is: '/etc/a' }]),
    },
    { requiredKeys: ['effect', 'tools'] },
  ) as fc.Arbitrary<Omit<Rule, 'id'>>,
);

const someRules: fc.Arbitrary<Rules> = fc
  .record({
    rules: fc.array(aRule, { maxLength: 5 }),
    default: fc.constantFrom<Rules['default']>('ask', 'deny', 'allow'),
  })
  .map(({ rules, ...more }) => ({
    ...NO_RULES,
    ...more,
    rules: rules.map((rule, i) => ({ id: `r${i}`, ...rule })),
  }));

/** The verdict on a call of a command. */
function judge(rules: Rules): (tool: string, args: Readonly<Record<string, string>>) => Verdict {
  const compiled = new CompiledRules(rules);
  return (tool, args) => compiled.judge({ agent: 'a', tool, args });
}

/** With the agent of the calls, and without one. */
const PLACES = [PLACE, { ...PLACE, agent: 'a' }];

function forAllRules(about: (rules: Rules, found: SandboxProfile) => void): void {
  fc.assert(
    fc.property(someRules, fc.constantFrom(...PLACES), (rules, place) =>
      about(rules, profileOf(rules, place)),
    ),
    { numRuns: 1_000 },
  );
}

describe('for all rules', () => {
  test('what a rule denies or asks about by its path is hidden', () => {
    forAllRules((rules, found) => {
      const verdict = judge(rules);
      const withPath = rules.rules.filter(({ path }) => path !== undefined).map(({ id }) => id);
      for (const path of PATHS.filter((each) => canRead(found, each)))
        for (const tool of ['files/read', 'shell/read']) {
          const { denied, asks } = verdict(tool, { path });
          expect([undefined, 'default']).toContain(denied?.rule);
          expect(asks.filter(({ rule }) => withPath.includes(rule))).toEqual([]);
        }
    });
  });

  test('what can be written is what the rules let through', () => {
    forAllRules((rules, found) => {
      const verdict = judge(rules);
      for (const path of PATHS.filter((each) => canWrite(found, each))) {
        const { denied, asks, allowed } = verdict('shell/write', { path });
        expect({ denied, asks }).toEqual({ denied: undefined, asks: [] });
        expect(allowed !== undefined || rules.default === 'allow').toBe(true);
      }
    });
  });

  test('the home folder is hidden but for the project and what is allowed', () => {
    forAllRules((rules, found) => {
      if (rules.default === 'allow') return;
      const verdict = judge(rules);
      const isOwn = (path: string) =>
        [PLACE.project, '/home/ada/go/bin'].some((top) => isUnder(path, top));
      for (const path of PATHS.filter((each) => isUnder(each, PLACE.home) && canRead(found, each)))
        expect(
          isOwn(path) ||
            ['files/read', 'shell/read', 'shell/write'].some(
              (tool) => verdict(tool, { path }).allowed !== undefined,
            ),
        ).toBe(true);
    });
  });

  test('a host that can be reached is one that the rules let through', () => {
    const urls = ['https://a.com/', 'http://b.a.com/', 'https://x.b.a.com/', 'https://a.com:8443/'];
    let reached = 0;
    forAllRules((rules, found) => {
      const verdict = judge(rules);
      for (const url of urls.filter((each) => canReach(found, each))) {
        reached += 1;
        const { denied, asks, allowed } = verdict('web/fetch', { url });
        expect({ denied, asks }).toEqual({ denied: undefined, asks: [] });
        expect(allowed).toBeDefined();
      }
    });
    expect(reached).toBeGreaterThan(100);
  });
});

test('rules for a coding agent become places and hosts', () => {
  expect(
    profile(`rules:
  - { id: look, allow: ['files/*', 'shell/*'], class: read, path: /home/ada/repo }
  - { id: edit, allow: [files/write, shell/write], path: /home/ada/repo }
  - { id: held, ask: [files/write, shell/write], path: /home/ada/repo/migrations }
  - { id: secrets, deny: ['files/*', 'shell/*'], path: [/home/ada/repo/.env, /srv/keys] }
  - { id: net, allow: web/fetch, host: [registry.npmjs.org, '*.example.com'] }
  - { id: no, deny: web/fetch, host: evil.example.com }
`),
  ).toEqual({
    unreadable: ['/home/ada', '/home/ada/repo/.env', '/srv/keys'],
    readable: expect.arrayContaining(['/home/ada/repo', '/home/ada/.cargo/bin']),
    writable: ['/home/ada/repo'],
    unwritable: expect.arrayContaining([
      ...['/home/ada/repo/migrations', '/home/ada/repo/.env', '/home/ada/repo/.git/hooks'],
    ]),
    hosts: [
      ...['registry.npmjs.org:443', 'registry.npmjs.org:80'],
      ...['*.example.com:443', '*.example.com:80'],
    ],
    refusedHosts: ['evil.example.com'],
    notes: [],
  });
});

test('an MCP server may write what its own tools may write', () => {
  const text = `tools:
  fs/put: { class: reversible, writes: [/path] }
rules:
  - { id: own, allow: fs/put, path: /srv/out }
  - { id: edit, allow: shell/write, path: /home/ada/repo }
`;
  expect(profile(text, { server: 'fs' }).writable).toEqual(['/srv/out']);
  expect(profile(text).writable).toEqual(['/home/ada/repo']);
});

test('what a sandbox cannot follow is said by rule', () => {
  const { notes } = profile(`default: allow
rules:
  - { id: any, allow: web/fetch }
  - { id: wide, allow: web/fetch, host: '*.com' }
  - { id: look, ask: files/read }
  - { id: some, deny: shell/write, where: [{ path: /path, is: /etc/a }] }
`);
  expect(notes.map(({ rule }) => rule)).toEqual(['look', 'some', 'default', 'any', 'wide']);
});

test('a rule with many starred paths has one note for each lack', () => {
  const keys = SECRETS.map((name) => `'**/${name}'`);
  const { notes } = profile(`rules:\n  - { id: keys, deny: 'files/*', path: [${keys}] }\n`);
  expect(keys.length).toBeGreaterThan(5);
  expect(notes.map(({ says }) => says)).toEqual([
    'has paths with stars: what appears after the start is not covered',
    'has paths that hold in the project alone',
  ]);
});
