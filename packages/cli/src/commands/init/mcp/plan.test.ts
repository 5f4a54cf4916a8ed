import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../../tests/support/cases.ts';
import { type ClientText, withText } from './client-text.ts';
import type { ClientName } from './clients.ts';
import { formatOf } from './formats/format-of.ts';
import type { Original } from './originals.ts';
import { restoringPlan, wrappingPlan } from './plan.ts';
import type { GatewayTerms } from './wrap.ts';

const TERMS: GatewayTerms = {
  program: ['/opt/node', '/opt/assize/bin/assize.js'],
  url: 'http://127.0.0.1:4517',
  tokenFile: '/home/ada/.assize/tokens/x.token',
};

const PROJECT = '/home/ada/project';
const all = (): boolean => true;

function fileOf(path: string, text: string, client: ClientName = 'claude-code'): ClientText {
  return withText({ client, path, folder: PROJECT, mark: '', text: '', entries: [] }, text);
}

async function installed(file: ClientText, originals: readonly Original[] = [], taken = new Map<string, string>()) {
  return wrappingPlan(file, { originals, terms: TERMS, taken, isMeant: all });
}

/** Installs twice and undoes it. The second time changes nothing, and no byte is left. */
async function expectRoundTrip(path: string, text: string): Promise<string> {
  const file = fileOf(path, text);
  const once = await installed(file);
  expect(once.entries.filter(({ state }) => state !== 'wrapped')).toEqual([]);
  const twice = await installed(fileOf(path, once.after), once.originals);
  expect(twice.after).toBe(once.after);
  expect(twice.originals).toEqual(once.originals);
  const undone = restoringPlan(fileOf(path, once.after), { originals: once.originals, isMeant: all });
  expect(undone.after).toBe(text);
  expect(undone.originals).toEqual([]);
  return once.after;
}

const word = fc.string({ unit: 'grapheme', maxLength: 12 });
const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text !== '__proto__');
const env = fc.dictionary(name, word, { maxKeys: 2 });
const local = fc.record(
  {
    command: fc.constantFrom('npx', '/bin/sh', 'C:\\x\\node.exe'),
    args: fc.array(word, { maxLength: 3 }),
    env,
    cwd: fc.constant('/tmp'),
  },
  { requiredKeys: ['command'] },
);
const remote = fc.record(
  {
    // The client fills these in, so the command asks no server about them.
    url: fc.constantFrom(`https://\${HOST}/mcp`, `https://x.test/\${env:PATH}?key=1`),
    type: fc.constantFrom('http', 'streamable-http'),
    headers: fc.dictionary(name, word, { maxKeys: 2 }),
    timeout: fc.integer(),
  },
  { requiredKeys: ['url'] },
);
const servers = fc.dictionary(name, fc.oneof(local, remote), { minKeys: 1, maxKeys: 3 });
const layout = fc.constantFrom('', '  ', '    ', '\t');
const lineEnd = fc.constantFrom('\n', '\r\n');

test('JSON: undone after an installation is byte-identical, and twice is once', async () => {
  const place = fc.constantFrom(['mcpServers'], ['servers'], ['projects', PROJECT, 'mcpServers']);
  await fc.assert(
    fc.asyncProperty(servers, layout, lineEnd, place, fc.boolean(), async (entries, indent, eol, at, isCommented) => {
      const content = at.reduceRight<unknown>((inner, member) => ({ other: 1, [member]: inner, last: [] }), entries);
      const plain = JSON.stringify(content, undefined, indent);
      const lines = plain.split('\n').map((line, i) => (isCommented && i % 3 === 1 ? `${line} // note ${i}` : line));
      const text = (isCommented && indent !== '' ? lines.join('\n').replace(/\}(\s*\n\s*)\}/g, '},$1}') : plain) + '\n';
      await expectRoundTrip('/home/ada/project/mcp.json', text.replaceAll('\n', eol));
    }),
    { numRuns: cases(1_000) },
  );
});

test('TOML: undone after an installation is byte-identical, and twice is once', async () => {
  const basic = (text: string) => JSON.stringify(text).replaceAll('\u007f', '\\u007f');
  const pairs = fc
    .array(
      fc.constantFrom(
        'startup_timeout_sec = 20',
        'enabled = true # on',
        '# a note',
        '',
        "cwd = '/tmp'",
        'tools.x = { a = 1 }',
      ),
      { maxLength: 4 },
    )
    .map((lines) => lines.filter((line, i) => line.startsWith('#') || line === '' || lines.indexOf(line) === i));
  const command = fc
    .record({ args: fc.array(fc.string({ maxLength: 8 }), { maxLength: 3 }), isLong: fc.boolean() })
    .map(({ args, isLong }) =>
      isLong
        ? `command = '''npx''' # why\nargs = [\n${args.map((text) => `  ${basic(text)}, # one\n`).join('')}]`
        : `args = [${args.map(basic).join(', ')}]\n"command" = "npx"`,
    );
  const address = fc.constantFrom(
    `url = "https://x.test/\${A}"\nbearer_token_env_var = "TOKEN"`,
    `http_headers = { "X-A" = "\${b}", Y = "c" }\nurl = "https://x.test/mcp"`,
    'env_http_headers = { X = "TOKEN" }\nurl = \'https://x.test/mcp\' # there',
  );
  const table = fc.record({ name, head: fc.oneof(command, address), before: pairs, after: pairs });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(table, { selector: (one) => one.name, minLength: 1, maxLength: 3 }),
      lineEnd,
      async (tables, eol) => {
        const text = tables.map(({ name, head, before, after }) => {
          const own = [...before, head, ...after.filter((line) => line.startsWith('#') || !before.includes(line))];
          const nested = head.includes('url') ? '' : `\n[mcp_servers.${basic(name)}.env]\nA = "a # b"\n`;
          return `[mcp_servers.${basic(name)}] # ${tables.length}\n${own.join('\n')}\n${nested}`;
        });
        const whole = `model = "x"\n\n${text.join('\n')}\n[tui]\nargs = 1`;
        await expectRoundTrip('/home/ada/.codex/config.toml', whole.replaceAll('\n', eol));
      },
    ),
    { numRuns: cases(1_000) },
  );
});

const TWO = `{
  // mine
  "servers": {
    "a": { "type": "stdio", "command": "npx", "args": ["-y", "a"], "env": { "K": "v" } }, // first
    "b": {
      "command": "b", // the program
      "unknown": [1],
    },
  },
  "inputs": [],
}
`;

test('comments, unknown members and the environment stay in the file', async () => {
  const after = await expectRoundTrip('/home/ada/project/.vscode/mcp.json', TWO);
  expect(after).toContain('// mine');
  expect(after).toContain('}, // first');
  expect(after).toContain('// the program');
  expect(after).toContain('"unknown": [');
  const [a, b] = fileOf('x.json', after).entries;
  expect(a?.value).toEqual({
    type: 'stdio',
    command: '/opt/node',
    args: [
      ...['/opt/assize/bin/assize.js', 'mcp', '--name', 'a', '--url', TERMS.url, '--token-file', TERMS.tokenFile],
      ...['--inherit-env', '--', 'npx', '-y', 'a'],
    ],
    env: { K: 'v' },
  });
  expect(b?.value).toMatchObject({ command: '/opt/node', unknown: [1] });
});

test('an entry is restored although others changed, and a changed one stays', async () => {
  const once = await installed(fileOf('/p/mcp.json', TWO));
  const changed = once.after.replace('"-y"', '"--yes"').replace('"inputs": []', '"inputs": [1], "more": {}');
  const undone = restoringPlan(fileOf('/p/mcp.json', changed), { originals: once.originals, isMeant: all });
  expect(undone.entries).toEqual([
    { name: 'a', state: 'left', why: 'it was changed afterwards' },
    { name: 'b', state: 'restored', server: 'b' },
  ]);
  expect(undone.originals).toMatchObject([{ server: 'a' }]);
  expect(undone.after).toContain('"--yes"');
  expect(undone.after).toContain('"command": "b", // the program\n      "unknown": [1],');
  const spaced = once.after.replaceAll(',"', ', "');
  expect(spaced).not.toBe(once.after);
  expect(restoringPlan(fileOf('/p/mcp.json', spaced), { originals: once.originals, isMeant: all }).after).toBe(TWO);
});

test.each([
  ['a.json', '{"mcpServers":{"a":{"command":"a"}}}', '"command":', '/* mine */ "command":'],
  ['a.toml', "[mcp_servers.a]\ncommand = 'a'\nenabled = true", 'enabled', '# mine\nenabled'],
])('%s: a comment that the person wrote into an entry stays', async (path, text, found, commented) => {
  const once = await installed(fileOf(path, text));
  const file = fileOf(path, once.after.replace(found, commented));
  expect(file.text).toContain('mine');
  const undone = restoringPlan(file, { originals: once.originals, isMeant: all });
  expect(undone.entries).toEqual([{ name: 'a', state: 'left', why: 'it was changed afterwards' }]);
  expect([undone.after, undone.originals]).toEqual([file.text, once.originals]);
  expect((await installed(file, once.originals)).after).toBe(file.text);
});

test('an entry with a new command keeps its name, which no other entry gets', async () => {
  const taken = new Map<string, string>();
  const once = await installed(fileOf('/p/mcp.json', TWO), [], taken);
  const again = await installed(fileOf('/p/mcp.json', TWO.replace('"b", //', '"c", //')), once.originals, taken);
  expect(again.entries).toMatchObject([{ server: 'a' }, { server: 'b', state: 'wrapped' }]);
  const other = await installed(fileOf('/q/mcp.json', TWO.replace('"b", //', '"d", //')), once.originals, taken);
  expect(other.entries).toMatchObject([{ server: 'a' }, { server: 'b-2' }]);
});

test('entries of other projects are not touched, and keep their originals', async () => {
  const text = JSON.stringify({ projects: { '/other': { mcpServers: { a: { command: 'a' } } } }, mcpServers: {} });
  const kept = { file: '/h/.claude.json', at: ['projects', '/other', 'mcpServers', 'a'] } as unknown as Original;
  const plan = await installed(fileOf('/h/.claude.json', text), [kept]);
  expect(plan).toMatchObject({ after: text, entries: [], originals: [kept] });
});

test.each([
  ['a member that occurs twice', 'x.json', '{"mcpServers":{"a":{"command":"a","command":"b"}}}'],
  ['a list of servers that occurs twice', 'x.json', '{"mcpServers":{"a":{"command":"a"}},"mcpServers":{}}'],
  ['a table in one line', 'x.toml', 'mcp_servers.a = { command = "a" }'],
  ['tables of headers', 'x.toml', `[mcp_servers.a]\nurl = "https://\${A}"\n[mcp_servers.a.http_headers]\nX = "\${Y}"`],
])('%s is left alone', async (_, path, text) => {
  const plan = await installed(fileOf(path, text));
  expect(plan.after).toBe(text);
  expect(plan.entries).toMatchObject([{ name: 'a', state: 'left' }]);
});

test('a text that is no JSON or no TOML is refused', () => {
  expect(() => fileOf('/p/mcp.json', '{"mcpServers": ')).toThrow('/p/mcp.json cannot be read');
  expect(() => fileOf('/p/config.toml', '[mcp_servers')).toThrow('/p/config.toml cannot be read');
  expect(formatOf({ path: '/p/mcp.json' }).entries('')).toEqual([]);
});
