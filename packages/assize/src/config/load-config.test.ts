import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findConfig } from './find-config.ts';
import { loadConfig } from './load-config.ts';
import { mappedPrincipal } from './resolved-config.ts';

const entry = pathToFileURL(join(import.meta.dirname, '../public/index.ts')).href;

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-config-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test.each([
  [
    'assize.config.ts',
    `import { defineConfig } from '${entry}';\nexport default defineConfig({ store: 'sqlite:./x.db' as string });`,
  ],
  ['assize.config.mts', `export default { store: 'sqlite:./x.db' as string };`],
  ['assize.config.js', `export default { store: 'sqlite:./x.db' };`],
  ['assize.config.mjs', `export default { store: 'sqlite:./x.db' };`],
  ['assize.config.json', `{"store":"sqlite:./x.db"}`],
])('%s is found from a folder below, with paths of its own folder', async (name, text) => {
  const file = put(name, text);
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  const config = await loadConfig({ from: join(folder, 'a/b'), env: {} });
  expect(config).toMatchObject({ file, folder, store: `sqlite:${folder}/x.db` });
});

test('the search ends at a repository, and the nearest config counts', () => {
  const outer = put('assize.config.json', '{}');
  const inner = put('a/b/assize.config.json', '{}');
  mkdirSync(join(folder, 'repository/.git'), { recursive: true });
  mkdirSync(join(folder, 'repository/src'));
  mkdirSync(join(folder, 'a/b/c'));
  expect(findConfig(join(folder, 'a/b/c'))).toBe(inner);
  expect(findConfig(join(folder, 'a'))).toBe(outer);
  expect(findConfig(join(folder, 'repository/src'))).toBeUndefined();
  const own = put('repository/assize.config.json', '{}');
  expect(findConfig(join(folder, 'repository/src'))).toBe(own);
});

// Only root can give a file to another user.
test.skipIf(process.getuid?.() !== 0)(
  'a config of another user runs only where it is named',
  () => {
    const file = put('assize.config.json', '{}');
    chownSync(file, 65_534, 65_534);
    mkdirSync(join(folder, 'a'));
    expect(() => findConfig(join(folder, 'a'))).toThrow(
      expect.objectContaining({
        code: 'bad_config',
        message: expect.stringContaining('belongs to another user, and'),
      }),
    );
    expect(findConfig(folder)).toBe(file);
  },
);

test('two configs in a folder are ambiguous, and a named one is not', async () => {
  put('assize.config.json', '{}');
  const file = put('assize.config.mjs', 'export default { store: "memory:" }');
  await expect(loadConfig({ from: folder })).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining('Remove all but one, or name one'),
  });
  expect(await loadConfig({ from: folder, file, env: {} })).toMatchObject({
    file,
    store: 'memory:',
  });
});

test('the store is that of the first source that has one', async () => {
  const file = put('assize.config.json', '{"store":"sqlite:/c.db"}');
  const env = { ASSIZE_STORE: 'sqlite:/b.db' };
  expect((await loadConfig({ file, env, store: 'sqlite:/a.db' })).store).toBe('sqlite:/a.db');
  expect((await loadConfig({ file, env })).store).toBe('sqlite:/b.db');
  expect((await loadConfig({ file, env: {} })).store).toBe('sqlite:/c.db');
  put('empty/assize.config.json', '{}');
  expect((await loadConfig({ from: join(folder, 'empty'), env: {} })).store).toBe(
    `sqlite:${folder}/empty/assize.db`,
  );
});

test('a project without a config has every default', async () => {
  mkdirSync(join(folder, '.git'));
  expect(await loadConfig({ from: folder, env: {} })).toMatchObject({
    file: undefined,
    folder,
    store: `sqlite:${folder}/assize.db`,
    domains: [],
    tools: [],
    worlds: {},
    principals: new Map(),
    webhooks: [],
    server: {
      host: '127.0.0.1',
      port: 4517,
      publicUrl: undefined,
      peerUrl: undefined,
      behindProxy: false,
      limits: {
        requestsPerSecond: 50,
        concurrency: 32,
        streams: 16,
        bodyBytes: 1_048_576,
        proposalBytes: 65_536,
        names: 4_096,
        backlog: 1_000,
      },
      writSeconds: 3_600,
      watchdogMs: 60_000,
      jwt: [],
      witnesses: [],
    },
  });
});

test('members are filled in, and paths are those of the folder', async () => {
  const file = put(
    'assize.config.mjs',
    `export default {
      policy: './rules/assize.yaml',
      principals: { 'agent:a': { kinds: ['agent', 'agent'], grants: [{ actions: ['pay'] }] } },
      notices: { teams: { url: 'https://a.example/' }, webhooks: [] },
      server: {
        tls: { certFile: 'cert.pem', keyFile: '/key.pem' },
        limits: { streams: 2 },
        oidc: { issuer: 'https://id.example.com', clientId: 'a', principal: () => undefined },
      },
    };`,
  );
  const config = await loadConfig({ file, env: { ASSIZE_OIDC_CLIENT_SECRET: 's3cret' } });
  expect(config.policyFile).toBe(join(folder, 'rules/assize.yaml'));
  expect(config.chats).toEqual({ teams: { url: 'https://a.example/' } });
  expect(config.server.tls).toEqual({ certFile: join(folder, 'cert.pem'), keyFile: '/key.pem' });
  expect(config.server.limits).toMatchObject({ streams: 2, concurrency: 32 });
  expect(config.server.oidc?.clientSecret).toBe('s3cret');
  const changing = await loadConfig({ file, env: { ASSIZE_OIDC_CLIENT_SECRET: 'new\nold\n' } });
  expect(changing.server.oidc?.clientSecret).toEqual(['new', 'old']);
  expect(config.principals.get('agent:a')).toEqual({
    name: 'agent:a',
    kinds: ['agent'],
    grants: [
      { trajectories: ['*'], actions: ['pay'], budget: {}, requireApproval: [], maxDepth: 0 },
    ],
    email: undefined,
  });
});

test.each([
  ['not_found', undefined, 'does not exist'],
  ['bad_config', 'throw new Error("no luck")', 'no luck'],
  ['bad_config', 'throw Object.create(null)', 'cannot be read'],
  ['bad_config', 'const = 1', 'cannot be loaded'],
  ['bad_config', 'export const config = {}', 'no default export'],
  ['bad_config', 'export default { servr: {} }', 'nearest is server'],
  [
    'bad_config',
    `import { defineConfig } from '${entry}'; export default defineConfig({ store: 1 });`,
    'store must be',
  ],
])('%s names the file: %s', async (code, text, says) => {
  const file = join(folder, 'assize.config.mjs');
  if (text !== undefined) put('assize.config.mjs', text);
  const error = await loadConfig({ file }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code, message: expect.stringContaining(says) });
  expect((error as Error).message).toContain(file);
});

test('a JSON config that is not strict JSON is refused', async () => {
  const file = put('assize.config.json', '{"store":"memory:","store":"sqlite:./a.db"}');
  await expect(loadConfig({ file })).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining('cannot be loaded'),
  });
});

test('a mapped principal has the members of the config that it lacks', async () => {
  const file = put(
    'assize.config.mjs',
    `export default { principals: { 'manager:grace': { kinds: ['counselor'], email: 'g@example.com' } } };`,
  );
  const config = await loadConfig({ file });
  const map = (given: unknown) => mappedPrincipal(config, given as never, 'server.oidc');
  expect(map({ name: 'manager:grace' })).toEqual(config.principals.get('manager:grace'));
  expect(map({ name: 'manager:grace', kinds: ['auditor'], email: undefined })).toMatchObject({
    kinds: ['auditor'],
    email: 'g@example.com',
  });
  expect(map({ name: 'new', kinds: ['auditor'] })).toMatchObject({ name: 'new', grants: [] });
  for (const given of [
    null,
    undefined,
    7,
    {},
    { name: 'x' },
    { name: 'x', kinds: ['owner'] },
    Promise.resolve({}),
  ])
    expect(() => map(given)).toThrow(expect.objectContaining({ code: 'bad_config' }));
});
