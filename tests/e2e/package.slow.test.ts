import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtPackages } from '../support/built.ts';
import { projectWithPackage } from '../support/packed.ts';
import { suite } from '../support/suites.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

const node = (args: string[]): string =>
  execFileSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...process.env, NO_COLOR: '1' },
  });

beforeAll(() => {
  folder = projectWithPackage();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Published {
  readonly name: string;
  readonly exports: Readonly<
    Record<string, string | { readonly types: string; readonly default: string }>
  >;
}

const published = globSync('*/package.json', { cwd: builtPackages() }).map(
  (file) => JSON.parse(readFileSync(join(builtPackages(), file), 'utf8')) as Published,
);

/** Needs optional peers that are not installed here: see the tests below. */
const WITH_PEERS = '@assize/testing';

/** The entries with code, each with its declarations. A pattern stands for all that it fits. */
const entries = new Map(
  published.flatMap(({ name, exports }) =>
    Object.entries(exports).flatMap(([subpath, target]): [string, string][] => {
      if (typeof target === 'string' || subpath.startsWith('./internal')) return [];
      const [before = '', after = ''] = target.types.split('*');
      const built = join(builtPackages(), basename(name));
      return globSync(target.types, { cwd: built }).map((file) => [
        `${name}${subpath.slice(1).replace('*', `./${file}`.slice(before.length, -after.length))}`,
        join(name, file),
      ]);
    }),
  ),
);
entries.delete(WITH_PEERS);

/** The package that an integration imports, and that this project does not have. */
const FRAMEWORKS: Readonly<Record<string, string>> = {
  '@assize/ai-sdk': 'ai',
  '@assize/langchain': '@langchain',
  '@assize/openai-agents': '@openai/agents',
  '@assize/opentelemetry': '@opentelemetry',
};

/**
 * The import result of each name: the number of exports, or the import error.
 */
let given: Record<string, string | number>;

beforeAll(() => {
  // Each import runs in a thread that has loaded nothing else. Modules that need each other can be
  // complete only if the import starts at another module.
  const script = `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    const found = (it) => (typeof it === 'string' ? it : Object.keys(it).length);
    const given = {};
    for (const name of ${JSON.stringify([...entries.keys()])}) {
      const text = "import { parentPort } from 'node:worker_threads'; import('" + name + "').catch(String).then((it) => parentPort.postMessage((" + found + ")(it)))";
      const thread = new Worker(text, { eval: true });
      [given[name]] = await once(thread, 'message');
      await thread.terminate();
    }
    console.log(JSON.stringify(given));`;
  given = JSON.parse(node(['--input-type=module', '-e', script]));
});

for (const [name, types] of entries) {
  test(`${name} is there for plain JavaScript`, () => {
    const framework = FRAMEWORKS[name];
    if (framework !== undefined) expect(given[name]).toContain(`Cannot find package '${framework}`);
    else expect(given[name]).toBeGreaterThan(0);
    expect(existsSync(join(folder, 'node_modules', types))).toBe(true);
  });
}

test('@assize/testing without its optional peers says which one is missing', () => {
  const run = (): string => node(['--input-type=module', '-e', `import '@assize/testing'`]);
  expect(run).toThrow(/Cannot find package '(vitest|fast-check)'/);
});

test('@assize/testing with its peers runs a store through the guide’s suites', () => {
  const peers = ['vitest', 'fast-check'];
  const modules = join(folder, 'node_modules');
  for (const peer of peers) symlinkSync(join(root, 'node_modules', peer), join(modules, peer));
  try {
    const guide = readFileSync(join(root, 'docs/reference/own-store.md'), 'utf8');
    const [, suites, loop] = guide.split('```js\n').map((part) => part.split('```')[0]!) as [
      string,
      string,
      string,
    ];
    writeFileSync(join(folder, 'own.test.js'), suites);
    const report = join(folder, 'report.json');
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    // The laws take longer on a busy machine than vitest gives a test by default.
    const patience = ['--testTimeout', '600000', '--hookTimeout', '600000'];
    const isWhole = suite() === 'all';
    const part = isWhole ? [] : ['--testNamePattern', 'oracle store'];
    const output = ['--reporter', 'json', '--outputFile', report];
    node([vitest, 'run', '--root', folder, ...patience, ...part, ...output, 'own.test.js']);
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    expect(numFailedTests).toBe(0);
    expect(numPassedTests).toBeGreaterThan(isWhole ? 50 : 10);
    if (isWhole) expect(numPendingTests).toBe(1);
    writeFileSync(join(folder, 'loop.js'), loop);
    expect(node(['loop.js']).trim().split('\n')).toEqual(['1 3', '2 3', '3 3', '4 3']);
  } finally {
    for (const peer of peers) unlinkSync(join(modules, peer));
  }
});

test('a folder of the sources is not an entry', () => {
  for (const name of ['assize/kernel', 'assize/src/kernel/index.js'])
    expect(() => node(['--input-type=module', '-e', `import '${name}'`]), name).toThrow(
      /ERR_PACKAGE_PATH_NOT_EXPORTED/,
    );
});

test('@assize/cedar without its optional peer says how to install it', () => {
  const script = `
    import { cedarPolicy, CedarError } from '@assize/cedar';
    await cedarPolicy({ policies: '', schema: '' }).catch((error) => {
      console.log(error instanceof CedarError, error.code, error.message.includes('npm install @cedar-policy/cedar-wasm'));
    });`;
  expect(node(['--input-type=module', '-e', script]).trim()).toBe('true missing_package true');
});

test('@assize/cedar with its peer decides', () => {
  const peer = '@cedar-policy';
  symlinkSync(join(root, 'node_modules', peer), join(folder, 'node_modules', peer));
  try {
    writeFileSync(join(folder, 'cedar.mjs'), CEDAR);
    expect(node(['cedar.mjs']).trim()).toBe('["committed","rejected"]');
  } finally {
    unlinkSync(join(folder, 'node_modules', peer));
  }
});

test('the server runs without the SDK of MCP, and the gateway names it', async () => {
  const bin = join(folder, 'node_modules/assize/bin/assize.js');
  writeFileSync(
    join(folder, 'assize.config.mjs'),
    `export default { worlds: { calls: { domain: 'gateway' } } };`,
  );
  const own = { cwd: folder, env: { ...process.env, NO_COLOR: '1', ASSIZE_TOKEN: 'none' } };
  const server = spawn(process.execPath, [bin, 'serve', '--port', '0', '--store', 'memory:'], own);
  try {
    const said = await new Promise<string>((resolve, reject) => {
      let all = '';
      const note = (chunk: unknown): void => {
        all += String(chunk);
        if (/http:\/\/127\.0\.0\.1:\d+/.test(all)) resolve(all);
      };
      server.stdout.on('data', note);
      server.stderr.on('data', note);
      server.once('exit', () => reject(new Error(all)));
    });
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    expect((await fetch(`${url}/v1/me`)).status).toBe(401);
    const gateway = [
      'mcp',
      '--json',
      '--url',
      url,
      '--name',
      'a',
      '--agent',
      'ada',
      '--',
      process.execPath,
      '-e',
      '0',
    ];
    const { status, stderr } = spawnSync(process.execPath, [bin, ...gateway], {
      ...own,
      encoding: 'utf8',
    });
    expect(stderr).toContain(
      'npm install @modelcontextprotocol/client @modelcontextprotocol/server',
    );
    expect(status).not.toBe(0);
  } finally {
    server.kill();
    await once(server, 'exit');
  }
});

test('a domain written against the package is adjudicated, its ledger verifies', () => {
  writeFileSync(join(folder, 'use.mjs'), USE);
  expect(JSON.parse(node(['use.mjs']))).toEqual({
    rulings: ['committed', 'rejected'],
    spent: { ada: 60_000 },
    valid: true,
  });
});

test('the console is there, compressed, in less than 1 MB', () => {
  const console = join(folder, 'node_modules/@assize/console');
  const document = readFileSync(join(console, 'index.html'), 'utf8');
  const [script = ''] = /(?<=src="\/assets\/)[^"]+\.js/.exec(document) ?? [];
  expect(existsSync(join(console, 'assets', script))).toBe(true);
  const files = readdirSync(join(console, 'assets')).filter((name) => name.endsWith('.br'));
  expect(files).toContain(`${script}.br`);
  const bytes = files.reduce(
    (sum, name) => sum + readFileSync(join(console, 'assets', name)).length,
    0,
  );
  const verifier = readFileSync(join(console, 'verify.html'), 'utf8');
  expect(verifier).toContain('<script type="application/json" id="bundle"></script>');
  expect(bytes + verifier.length).toBeLessThan(1_000_000);
});

/** The command of `assize` where nothing but the core is installed, with a stand-in for npx. */
function bareCommand({
  answer,
  isTerminal,
}: {
  readonly answer: string;
  readonly isTerminal: boolean;
}) {
  const bare = mkdtempSync(join(tmpdir(), 'assize-bare-'));
  try {
    cpSync(join(builtPackages(), 'assize'), join(bare, 'node_modules/assize'), { recursive: true });
    writeFileSync(join(bare, 'npx'), '#!/bin/sh\necho "npx $*"\nexit 7\n', { mode: 0o755 });
    const terminal = 'for (const stream of [process.stdin, process.stderr]) stream.isTTY = true;';
    const preload = isTerminal
      ? ['--import', `data:text/javascript,${encodeURIComponent(terminal)}`]
      : [];
    const bin = join(bare, 'node_modules/assize/bin/assize.js');
    const env = { ...process.env, PATH: `${bare}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...preload, bin, 'log', '--json'],
      {
        ...{ cwd: bare, env, input: answer, encoding: 'utf8' },
      },
    );
    return { status, stdout, stderr };
  } finally {
    rmSync(bare, { recursive: true });
  }
}

test('without its package the command names it to a script', () => {
  const named = expect.stringMatching(
    /^assize: the command is a package of its own\. Run npm install @assize\/cli@\S+,/,
  );
  expect(bareCommand({ answer: 'y\n', isTerminal: false })).toEqual({
    status: 2,
    stdout: '',
    stderr: named,
  });
});

test('without its package the command asks a person, and npx runs it', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const ran = { status: 7, stdout: `npx --yes @assize/cli@${version} log --json\n` };
  for (const answer of ['y\n', '\n'])
    expect(bareCommand({ answer, isTerminal: true })).toMatchObject(ran);
  const refused = bareCommand({ answer: 'n\n', isTerminal: true });
  expect(refused).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('Run npm install @assize/cli'),
  });
});

test('the command is there', () => {
  const bin = join(folder, 'node_modules/@assize/cli/src/main.js');
  expect(readFileSync(bin, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
  expect(node([bin, '--version']).trim()).toBe(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
  );
  const listed = node([bin, 'domains']).matchAll(/^([\w-]+)@/gm);
  expect([...listed].map(([, name]) => name)).toEqual([
    'budget',
    'udt',
    'demo-expenses',
    'agents',
    'chat',
    'gateway',
    'incident',
  ]);
  expect(JSON.parse(node([bin, 'demo', '--json', '--store', 'memory:']))).toMatchObject({
    ok: true,
  });
});

test('a proof bundle of the installed command has its verifiers', () => {
  const bin = join(folder, 'node_modules/@assize/cli/src/main.js');
  const assize = (...args: readonly string[]) =>
    node([bin, ...args, '--store', 'sqlite:./bundled.db']);
  assize('demo');
  assize('keys', 'new', 'example.com/log');
  assize('checkpoint');
  assize('bundle', '--from', '2000-01-01', '--to', '2100-01-01', '--out', 'bundle.zip');
  // The names of files are not compressed.
  const zip = readFileSync(join(folder, 'bundle.zip'), 'latin1');
  for (const name of ['verify.py', 'verify.html']) expect(zip).toContain(name);
});

test('a command of a workspace is not there', () => {
  const bin = 'node_modules/assize/bin/assize.js';
  expect(() => node([bin, 'adjudicate'])).toThrow(/unknown command/);
});

test.each(published)('no source, test or path of the building machine is in $name', ({ name }) => {
  const there = join(folder, 'node_modules', name);
  const files = readdirSync(there, { recursive: true, encoding: 'utf8' }).filter(
    (file) => !file.startsWith('node_modules/'),
  );
  expect(
    files.filter(
      (file) => /\.test\./.test(file) || (file.endsWith('.ts') && !file.endsWith('.d.ts')),
    ),
  ).toEqual([]);
  for (const file of files.filter((each) => /\.(js|json)$/.test(each)))
    expect(readFileSync(join(there, file), 'utf8').includes(`${dirname(root)}/`), file).toBe(false);
});

test('links of READMEs and paths in declarations lead to the repository', () => {
  const lost = published.flatMap(({ name }) => {
    const there = join(folder, 'node_modules', name);
    const files = readdirSync(there, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file === 'README.md' || file.endsWith('.d.ts'),
    );
    return files.flatMap((file) =>
      [...readFileSync(join(there, file), 'utf8').matchAll(REPOSITORY_PATH)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${name}/${file}: ${path}`),
    );
  });
  expect(lost).toEqual([]);
  const readme = readFileSync(join(folder, 'node_modules/assize/README.md'), 'utf8');
  expect(readme.match(/\]\((?!https?:|#)[^)]+/g)).toBeNull();
  expect(readme.match(REPOSITORY_PATH)!.length).toBeGreaterThan(20);
});

/** A link to the repository, or the path of a page or program in it. */
const REPOSITORY_PATH =
  /(?:assize\/assize\/(?:blob|raw)\/main\/|(?<![\w/])(?=(?:docs|verifiers|clients)\/[\w/.-]+\.(?:md|py)))([\w/.-]*\w)/g;

const USE = `
import { Assize, generateKeys, issueWrit, openStore } from 'assize';
import { Replayer, verifyTrajectory } from '@assize/audit';
import { budget } from '@assize/cli/unstable/domains/budget';

const store = await openStore('sqlite:./ledger.db');
const keys = generateKeys();
const assize = new Assize({ store, domains: [budget], anchors: [keys.publicKey] });
const writ = issueWrit({
  issuer: keys.publicKey, subject: 'agent:ada', actions: ['spend'], scopes: ['role:spender:ada'],
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z', max_depth: 0, nonce: '1',
}, keys.privateKey);
const trajectory = await assize.create(budget, { writs: [writ] });
const role = { name: 'spender', params: { agent: 'ada' } };
const first = await trajectory.propose({ action: 'spend', role, args: { amount: 60_000 }, writ });
const second = await trajectory.propose({ action: 'spend', role, args: { amount: 60_000 }, writ });
const { valid } = await verifyTrajectory(new Replayer(store), trajectory.id);
console.log(JSON.stringify({ rulings: [first.ruling, second.ruling], spent: trajectory.state().spent, valid }));
await store.close();
`;

const CEDAR = `
import { Assize, generateKeys, issueWrit, openStore } from 'assize';
import { cedarPolicy } from '@assize/cedar';
import { budget } from '@assize/cli/unstable/domains/budget';

const policy = await cedarPolicy({
  schema: \`
    entity Principal; entity Trajectory;
    action spend appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { amount: Long } } };
  \`,
  policies: 'permit(principal, action, resource) when { context.args.amount <= 100 };',
});
const store = await openStore('memory:');
const keys = generateKeys();
const assize = new Assize({ store, domains: [budget], anchors: [keys.publicKey], policy });
const writ = issueWrit({
  issuer: keys.publicKey, subject: 'agent:ada', actions: ['spend'], scopes: ['role:spender:ada'],
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z', max_depth: 0, nonce: '1',
}, keys.privateKey);
const trajectory = await assize.create(budget, { writs: [writ] });
const role = { name: 'spender', params: { agent: 'ada' } };
const rulings = [];
for (const amount of [100, 101]) rulings.push((await trajectory.propose({ action: 'spend', role, args: { amount }, writ })).ruling);
console.log(JSON.stringify(rulings));
await store.close();
`;
