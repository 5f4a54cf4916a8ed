import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SandboxProfile } from '#gateway';
import { cases } from '../../../../../../tests/support/cases.ts';
import { dottedText, parsedConfig, type Table, withBlock, withoutBlock } from './config-text.ts';
import { codexSandbox, hasOwnSandbox, isOtherSandbox, placesOf } from './sandbox.ts';

const HOME = '/none/ada';
const REPO = `${HOME}/repo`;
const PROFILE: SandboxProfile = {
  unreadable: [HOME, `${REPO}/.env`, `${REPO}/**/*.pem`],
  readable: [REPO, `${HOME}/.nvm/versions`],
  writable: [REPO],
  unwritable: [`${REPO}/.codex`, `${REPO}/.envrc`, `${REPO}/**/.husky`],
  hosts: [],
  refusedHosts: [],
  notes: [],
};
const FILES = { codexHome: `${HOME}/.codex`, written: [`${REPO}/.codex/config.toml`] };
const table = codexSandbox(PROFILE, FILES, { GIT_CONFIG_COUNT: '1' });

const network = (hosts: readonly string[], refusedHosts: readonly string[] = []): Table =>
  codexSandbox({ ...PROFILE, hosts, refusedHosts }, FILES);

test('Codex gets the places of the rules, and the home stays hidden', () => {
  const places = placesOf(PROFILE, FILES);
  expect(places).toMatchObject({
    ':minimal': 'read',
    [REPO]: 'write',
    [`${HOME}/.nvm/versions`]: 'read',
    [`${HOME}/.codex/tmp`]: 'read',
    [`${HOME}/.codex/auth.json`]: 'deny',
    [`${REPO}/.codex`]: 'read',
    [`${REPO}/**/*.pem`]: 'deny',
    // A place that is missing is found once it is there.
    [`${REPO}/.en[v]`]: 'deny',
    [`${REPO}/.en[v]/**`]: 'deny',
  });
  for (const absent of [':root', '/', '/none', HOME, `${REPO}/.envrc`])
    expect(places).not.toHaveProperty([absent]);
});

test('a folder with a kept or hidden place can be written, and not moved', () => {
  const written = [
    `${REPO}/.codex/a`,
    `${REPO}/.git/config`,
    `${REPO}/a/b/.husky/x`,
    `${REPO}/c/key`,
  ];
  const [unwritable, unreadable] = [
    ['.git/config', 'a/b/.husky'].map((name) => `${REPO}/${name}`),
    [HOME, `${REPO}/c/key`, `${REPO}/d/key`],
  ];
  const places = placesOf({ ...PROFILE, unwritable, unreadable }, { ...FILES, written });
  const writable = Object.keys(places).filter((path) => places[path] === 'write');
  expect(writable).toEqual([REPO, ...['.git', 'a/b', 'a', 'c'].map((name) => `${REPO}/${name}`)]);
  expect(places).toMatchObject({ [`${REPO}/.git/config`]: 'read', [`${REPO}/c/key`]: 'deny' });
});

test('without a hidden folder above, all of the disk is readable', () => {
  const open = { ...PROFILE, unreadable: [`${REPO}/.env`, '/**/*.key'] };
  expect(placesOf(open, FILES)).toMatchObject({ ':root': 'read', [`${REPO}/**/*.key`]: 'deny' });
});

test('hosts need the proxy, without which Codex opens the whole network', () => {
  expect(table['features']).toBeUndefined();
  expect(table).toMatchObject({ permissions: { assize: { network: { enabled: false } } } });
  const domains = { 'a.com': 'allow', 'b.a.com': 'deny' };
  expect(network(['a.com:443', 'a.com:80'], ['b.a.com'])).toMatchObject({
    permissions: { assize: { network: { enabled: true, domains } } },
    features: { network_proxy: { enabled: true } },
  });
});

const name = fc.stringMatching(/^[ -~é\u007f]{1,12}$/);
const profiles = fc
  .record({
    unreadable: fc.array(name),
    writable: fc.array(name),
    hosts: fc.array(fc.domain()),
  })
  .map(({ unreadable, writable, hosts }) => {
    const below = (names: readonly string[]) => names.map((each) => `${REPO}/${each}`);
    return { ...PROFILE, unreadable: below(unreadable), writable: below(writable), hosts };
  });

test('each sandbox is read back as it was written, and taken out whole', () => {
  const texts = fc.constantFrom('', 'model = "x"', '# mine\n[tools]\nweb_search = true\n\n');
  fc.assert(
    fc.property(profiles, texts, (profile, text) => {
      const own = codexSandbox(profile, FILES);
      const written = withBlock(text, 'sandbox', dottedText(own), 'x');
      expect(parsedConfig(written, 'x')).toMatchObject(own);
      expect(withBlock(written, 'sandbox', dottedText(own), 'x')).toBe(written);
      expect(withoutBlock(written, 'sandbox', 'x')).toBe(text);
    }),
    { numRuns: cases(300) },
  );
});

test('a change of any place or host is another sandbox', () => {
  const same = { ...table, sandbox_mode: null, model: 'x' };
  expect(isOtherSandbox(same, table, HOME)).toBe(false);
  expect(isOtherSandbox({ ...same, sandbox_mode: 'read-only' }, table, HOME)).toBe(true);
  expect(isOtherSandbox({ ...same, default_permissions: ':workspace' }, table, HOME)).toBe(true);
  const changed = (more: Table, isNetwork = false): boolean => {
    const { filesystem, network: given } = (table as any).permissions.assize;
    const assize = isNetwork
      ? { filesystem, network: { ...given, ...more } }
      : { filesystem: { ...filesystem, ...more }, network: given };
    return isOtherSandbox({ ...same, permissions: { assize } }, table, HOME);
  };
  for (const opened of [{ [REPO]: 'read' }, { '/tmp': 'write' }, { [`${HOME}/.ssh`]: 'read' }])
    expect(changed(opened)).toBe(true);
  for (const opened of [{ enabled: true }, { allow_local_binding: true }])
    expect(changed(opened, true)).toBe(true);
  for (const above of ['/', '/none']) expect(changed({ [above]: 'read' }), above).toBe(true);
  // A folder around the home folder that came later.
  expect(changed({ '/none/bob': 'read' })).toBe(false);
  expect(isOtherSandbox(network([]), network(['a.com:443']), HOME)).toBe(true);
});

test('settings that say something about a sandbox are one of the person', () => {
  for (const theirs of ['sandbox_mode', 'default_permissions', 'permissions'])
    expect(hasOwnSandbox({ [theirs]: 'x' }, table), theirs).toBe(true);
  expect(hasOwnSandbox({ model: 'x', features: {} }, table)).toBe(false);
  expect(hasOwnSandbox({ features: {} }, network(['a.com:443']))).toBe(true);
});
