import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../../tests/support/cases.ts';
import { serverNameOf } from './names.ts';
import { serversIn, withServers } from './servers-file.ts';
import {
  faultOf,
  hasGateway,
  identityOf,
  type Members,
  nameBehind,
  unwrapped,
  wrapped,
} from './wrap.ts';

const TERMS = {
  program: ['/bin/node', '/opt/assize.js'],
  url: 'http://127.0.0.1:4517',
  tokenFile: '/home/me/mcp.token',
};

const text = fc.string({ minLength: 1, maxLength: 8 });
const texts = fc.dictionary(text, text, { maxKeys: 3 });
const local = fc.record(
  { command: fc.constantFrom('node', 'npx'), args: fc.array(text), env: texts, cwd: text },
  { requiredKeys: ['command', 'args'] },
);
const header = fc.stringMatching(/^[a-z][a-z-]{0,8}$/);
const remote = fc.record(
  {
    type: fc.constant('http'),
    url: fc.webUrl(),
    headers: fc.dictionary(header, text, { minKeys: 1 }),
    env: texts,
  },
  { requiredKeys: ['url'] },
);

test('a server is the same again after its gateway is taken out', () => {
  fc.assert(
    fc.property(fc.oneof(local, remote), (value: Members) => {
      const behind = wrapped(value, 'notes', TERMS);
      expect(hasGateway(behind)).toBe(true);
      expect(nameBehind(behind)).toBe('notes');
      const env = value['env'] as object | undefined;
      const { env: _, ...others } = value;
      const same =
        env !== undefined && Object.keys(env).length === 0 && 'url' in value ? others : value;
      expect(unwrapped(behind, TERMS)).toEqual(same);
      expect(unwrapped(behind, { ...TERMS, tokenFile: '/tmp/other.token' })).toBeUndefined();
      expect(unwrapped(value, TERMS)).toBeUndefined();
    }),
    { numRuns: cases(500) },
  );
});

test.each<[Members, string]>([
  [{ command: 'node x.mjs' }, 'a line for a shell'],
  [{ command: 'node', args: 'x' }, 'not a list'],
  [{ command: 'node', type: 'http' }, 'with a command'],
  [{}, 'neither a command nor an address'],
  [{ url: 'https://a.example', type: 'sse' }, 'older SSE transport'],
  [{ url: 'https://a.example', type: 'ws' }, 'unknown'],
  [{ url: 'https://a.example', oauth: {} }, 'OAuth'],
  [{ url: 'https://a.example', headers: { a: 1 } }, 'not texts'],
])('a server is left alone, with the reason: %j', (value, why) => {
  expect(faultOf(value)).toContain(why);
});

test('another server of the same name gets another name in rules', () => {
  const [one, other] = [
    { command: 'node', args: ['a'] },
    { command: 'node', args: ['b'] },
  ].map(identityOf);
  const taken = { notes: one!, 'notes-2': 'x' };
  expect(serverNameOf('notes', one!, taken)).toBe('notes');
  expect(serverNameOf('notes', other!, taken)).toBe('notes-3');
  expect(
    ['Files', 'a b/c', '--', 'constructor'].map((name) => serverNameOf(name, 'x', {})),
  ).toEqual([...['mcp-Files', 'a-b-c', 'server', 'constructor']]);
});

test('comments and other members stay, and a text that is not valid is refused', () => {
  const before = `\uFEFF{
    // mine
    "mcpServers": {
        "a": {
            "command": "node", // why
            "args": ["x"]
        }
    },
}\n`;
  const [a] = serversIn('f', before);
  const after = withServers('f', before, new Map([[a!, { command: 'go', args: ['y'] }]]));
  expect(after).toContain('"command": "go", // why');
  expect(after).toContain('// mine');
  expect(serversIn('f', after)[0]!.value).toEqual({ command: 'go', args: ['y'] });
  expect(withServers('f', before, new Map([[a!, a!.value]]))).toBe(before);
  const twice = '{"mcpServers": {"a": {"command": "x", "command": "y"}}}';
  for (const text of ['{', '[]', '{"mcpServers": {}', twice])
    expect(() => serversIn('f', text)).toThrow('Correct it');
});
