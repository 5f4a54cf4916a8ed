import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { asUnprivilegedUser } from '../../../../tests/support/process/as-unprivileged-user.ts';
import { findRootKey, rootKeyFile, rootKeyOf } from './root-key.ts';

const HEX = 'ab'.repeat(32);

let folder: string;
let url: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-root-key-'));
  url = `sqlite:${folder}/a.db`;
  file = rootKeyFile(url) as string;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function keyFile(path: string, mode = 0o600, text = `${HEX}\n`): void {
  writeFileSync(path, text);
  chmodSync(path, mode);
}

test('a created key is a pair in a file of mode 600, and is found again', () => {
  expect(findRootKey(url, {})).toBeUndefined();
  const made = rootKeyOf(url, {});
  expect(made).toMatchObject({ origin: 'file', file, created: true });
  expect(lstatSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toBe(`${made.privateKey}\n`);
  expect(generateKeys(Buffer.from(made.privateKey, 'hex')).publicKey).toBe(made.publicKey);
  expect(rootKeyOf(url, {})).toEqual({ ...made, created: false });
  expect(findRootKey(url, {})).toEqual({ ...made, created: false });
  expect(readdirSync(folder)).toEqual(['a.db.root.key']);
});

test('the environment comes before the file, and creates none', () => {
  expect(rootKeyOf(url, { ASSIZE_ROOT_KEY: HEX })).toMatchObject({
    origin: 'environment',
    privateKey: HEX,
  });
  const named = join(folder, 'named.key');
  keyFile(named);
  expect(rootKeyOf(url, { ASSIZE_ROOT_KEY_FILE: named })).toMatchObject({
    file: named,
    privateKey: HEX,
  });
  expect(existsSync(file)).toBe(false);
  expect(() => rootKeyOf(url, { ASSIZE_ROOT_KEY: HEX, ASSIZE_ROOT_KEY_FILE: named })).toThrow(
    'both set',
  );
});

test('a server of PostgreSQL needs a key in the environment', () => {
  const server = 'postgres://localhost/a';
  expect(() => rootKeyOf(server, {})).toThrow(
    expect.objectContaining({ code: 'root_key_missing' }),
  );
  expect(findRootKey(server, {})).toBeUndefined();
  expect(rootKeyOf(server, { ASSIZE_ROOT_KEY: HEX })).toMatchObject({ origin: 'environment' });
});

test('the stores in memory of a process share a key', () => {
  const [one, other] = [rootKeyOf('memory:', {}), rootKeyOf('memory:', {})];
  expect(one).toMatchObject({ origin: 'ephemeral', created: false });
  expect(one.publicKey).toBe(other.publicKey);
});

test.each([
  ['a text', 'secret'],
  ['63 digits', HEX.slice(1)],
  ['65 digits', `${HEX}0`],
  ['capitals', HEX.toUpperCase()],
  ['nothing', ''],
])('%s is not a key, and is not in the message', (_name, text) => {
  for (const refused of [
    () => rootKeyOf(url, { ASSIZE_ROOT_KEY: text }),
    () => {
      keyFile(file, 0o600, text);
      return rootKeyOf(url, {});
    },
  ]) {
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'bad_key',
        message: expect.stringContaining('lower-case hex digits.'),
        name: 'ConfigError',
      }),
    );
    if (text !== '') expect(refused).toThrow(expect.not.stringContaining(text));
  }
});

test.each([0o604, 0o640, 0o644, 0o660, 0o666, 0o610, 0o601])(
  'a file of mode %o is refused',
  (mode) => {
    keyFile(file, mode);
    expect(() => rootKeyOf(url, {})).toThrow(
      expect.objectContaining({
        code: 'bad_key',
        message: expect.stringContaining('Make it a regular file of this'),
        evidence: { file },
      }),
    );
    expect(() => rootKeyOf(url, { ASSIZE_ROOT_KEY_FILE: file })).toThrow('not safe');
  },
);

test('a symbolic link is refused, also one to nothing', () => {
  const elsewhere = join(folder, 'elsewhere');
  symlinkSync(elsewhere, file);
  expect(() => rootKeyOf(url, {})).toThrow('symbolic link');
  keyFile(elsewhere);
  expect(() => rootKeyOf(url, {})).toThrow('symbolic link');
  // Secrets of containers are links.
  expect(rootKeyOf(url, { ASSIZE_ROOT_KEY_FILE: file })).toMatchObject({ privateKey: HEX });
});

test('a file with a second name is refused', () => {
  keyFile(file);
  linkSync(file, join(folder, 'copy'));
  expect(() => rootKeyOf(url, {})).toThrow('hard link');
  expect(existsSync(join(folder, 'copy'))).toBe(true);
});

test('a folder, a pipe and a large file are refused', () => {
  mkdirSync(file);
  expect(() => rootKeyOf(url, {})).toThrow('not a regular file');
  rmSync(file, { recursive: true });
  execFileSync('mkfifo', ['-m', '600', file]);
  expect(() => rootKeyOf(url, {})).toThrow('not a regular file');
  rmSync(file);
  keyFile(file, 0o600, HEX.repeat(20));
  expect(() => rootKeyOf(url, {})).toThrow('larger than a key');
});

test('a named file that does not exist is refused', () => {
  expect(() => rootKeyOf(url, { ASSIZE_ROOT_KEY_FILE: join(folder, 'none') })).toThrow(
    'does not exist',
  );
});

test('a creation that ended between two steps is completed', () => {
  const draft = `${file}.0123456789abcdef.draft`;
  keyFile(draft);
  // The key was not published: another one is made, and the draft stays unused.
  const made = rootKeyOf(url, {});
  expect(made.privateKey).not.toBe(HEX);
  rmSync(file);
  // The key was published, and the draft is its second name.
  linkSync(draft, file);
  expect(rootKeyOf(url, {})).toMatchObject({ privateKey: HEX, created: false });
  expect(existsSync(draft)).toBe(false);
});

// Only root can give a file to another user.
test.skipIf(process.getuid?.() !== 0)('a file of another user is refused', () => {
  keyFile(file);
  chownSync(file, 65_534, 65_534);
  expect(() => rootKeyOf(url, {})).toThrow('another user');
});

test('of 8 processes that create the keys, one creates each, and all have it', async () => {
  const urls = Array.from({ length: 40 }, (_, i) => `sqlite:${folder}/${i}.db`);
  const go = join(folder, 'go');
  const program = `import { rootKeyOf } from ${JSON.stringify(join(import.meta.dirname, 'root-key.ts'))};
    import { existsSync } from 'node:fs';
    process.stdout.write('ready\\n');
    while (!existsSync(${JSON.stringify(go)}));
    const keys = ${JSON.stringify(urls)}.map((url) => rootKeyOf(url, {}));
    process.stdout.write(JSON.stringify(keys.map(({ publicKey, created }) => ({ publicKey, created }))));`;
  const children = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const said = children.map(() => '');
  const ready = children.map(
    (child, i) =>
      new Promise<void>((resolve) =>
        child.stdout.on('data', (chunk) => {
          said[i] += chunk;
          resolve();
        }),
      ),
  );
  await Promise.all(ready);
  const closed = children.map((child) => once(child, 'close'));
  writeFileSync(go, '');
  await Promise.all(closed);
  const made = said.map(
    (text) => JSON.parse(text.replace('ready\n', '')) as { publicKey: string; created: boolean }[],
  );
  for (const i of urls.keys()) {
    expect(new Set(made.map((keys) => keys[i]?.publicKey)).size).toBe(1);
    expect(made.filter((keys) => keys[i]?.created)).toHaveLength(1);
  }
  expect(readdirSync(folder).filter((name) => !name.endsWith('.db.root.key'))).toEqual(['go']);
});

test('a folder that takes no key is named, with a way out', async () => {
  const missing = `sqlite:${folder}/none/a.db`;
  expect(() => rootKeyOf(missing, {})).toThrow(
    /none\/a\.db\.root\.key cannot be created: its folder does not exist\./,
  );
  mkdirSync(join(folder, 'shut'), { mode: 0o555 });
  chmodSync(folder, 0o755);
  const refused = await asUnprivilegedUser(async () =>
    rootKeyOf(`sqlite:${folder}/shut/a.db`, {}),
  ).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'root_key_missing',
    message: expect.stringMatching(
      /this user may not write into its folder\. .*ASSIZE_ROOT_KEY_FILE/,
    ),
  });
});
