import { expect, test } from 'vitest';
import { profileOf, readRules } from '#gateway';
import { runtimeConfig } from './runtime.ts';

const RULES = `
id: mac
rules:
  - { id: look, allow: ['files/*', 'shell/*'], class: read, path: /Users/ada/repo }
  - { id: edit, allow: [files/write, shell/write], path: /Users/ada/repo }
  - { id: secrets, deny: ['files/*', 'shell/*'], path: ['/Users/ada/repo/.env', '**/*.pem'] }
  - { id: docs, allow: web/fetch, host: docs.example.com }
`;

// No test runs on macOS, so the settings that the runtime gets there are compared with a text.
test('the settings for macOS have patterns, and places that do not exist', () => {
  const place = {
    project: '/Users/ada/repo',
    home: '/Users/ada',
    kept: ['/Users/ada/repo/.envrc'],
  };
  const profile = profileOf(readRules(RULES).rules, place);
  const { network, filesystem } = runtimeConfig(profile, 'darwin');
  const pathOf = (entry: string | { readonly path: string }): string =>
    typeof entry === 'string' ? `pattern ${entry}` : entry.path;
  expect(network).toEqual({
    allowedDomains: ['docs.example.com:443', 'docs.example.com:80'],
    deniedDomains: [],
    strictAllowlist: true,
  });
  expect(filesystem.denyRead.map(pathOf)).toEqual([
    '/Users/ada',
    '/Users/ada/repo/.env',
    'pattern /Users/ada/repo/**/*.pem',
  ]);
  expect(filesystem.allowRead.map(pathOf).slice(0, 3)).toEqual([
    '/Users/ada/repo',
    '/Users/ada/.nvm/versions',
    '/Users/ada/.volta',
  ]);
  expect(filesystem.allowWrite.map(pathOf)).toEqual(['/Users/ada/repo']);
  expect(filesystem.denyWrite.map(pathOf)).toEqual(
    [
      ...['.env', 'pattern', '.assize', '.claude', '.codex', '.mcp.json', 'assize.yaml'],
      ...['assize.config.json', '.git/config', '.git/hooks', '.git/info', '.envrc'],
    ].map((name) =>
      name === 'pattern' ? 'pattern /Users/ada/repo/**/*.pem' : `/Users/ada/repo/${name}`,
    ),
  );
});
