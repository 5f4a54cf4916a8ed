import { describe, expect, test } from 'vitest';
import type { SandboxProfile } from '#gateway';
import { claudeSandbox, isOtherSandbox, sandboxFaults } from './sandbox.ts';

const PROFILE: SandboxProfile = {
  unreadable: ['/home/ada', '/home/ada/repo/.env'],
  readable: ['/home/ada/repo'],
  writable: ['/home/ada/repo'],
  unwritable: ['/home/ada/repo/.git/hooks'],
  hosts: ['docs.example.com:443'],
  refusedHosts: [],
  notes: [],
};
const OWN = '/home/ada/repo/.claude/settings.local.json';
const sandbox = claudeSandbox(PROFILE, ['API_KEY']);

const faults = (settings: object, own: object = { sandbox }) =>
  sandboxFaults(
    [
      { path: OWN, settings: { ...own } },
      { path: 'other', settings: { ...settings } },
    ],
    OWN,
  );

test('the settings have the places and the hosts of the rules', () => {
  expect(sandbox).toEqual({
    enabled: true,
    failIfUnavailable: true,
    allowUnsandboxedCommands: false,
    filesystem: {
      denyRead: PROFILE.unreadable,
      allowRead: PROFILE.readable,
      allowWrite: PROFILE.writable,
      denyWrite: PROFILE.unwritable,
    },
    network: { allowedDomains: PROFILE.hosts, deniedDomains: [] },
    credentials: { envVars: [{ name: 'API_KEY', mode: 'deny' }] },
  });
  expect(faults({})).toEqual([]);
});

describe('what opens the sandbox of Assize is named', () => {
  test.each([
    ['enabled', { enabled: false }],
    ['failIfUnavailable', { failIfUnavailable: false }],
    ['allowUnsandboxedCommands', { allowUnsandboxedCommands: true }],
    ['excludedCommands', { excludedCommands: ['git *'] }],
    ['filesystem.allowWrite', { filesystem: { allowWrite: ['/'] } }],
    ['filesystem.allowRead', { filesystem: { allowRead: ['/home/ada/.ssh'] } }],
    ['filesystem.disabled', { filesystem: { disabled: true } }],
    ['network.allowedDomains', { network: { allowedDomains: ['*.com'] } }],
    ['network.httpProxyPort', { network: { httpProxyPort: 8080 } }],
    ['a.member.of.later', { a: { member: { of: { later: 1 } } } }],
  ])('sandbox.%s', (name, more) => {
    const said = `other has sandbox.${name}, and it opens the sandbox; remove it`;
    expect(faults({ sandbox: more })).toEqual([said]);
  });

  test.each([
    ['Edit(/etc/**)', { allow: ['Edit(/etc/**)'] }],
    ['WebFetch(domain:a.com)', { allow: ['WebFetch(domain:a.com)'] }],
    ['permissions.additionalDirectories', { additionalDirectories: ['../b'] }],
  ])('the permission %s', (name, permissions) => {
    const said = `other has ${name}, and it opens the sandbox; write it as a rule`;
    expect(faults({ permissions })).toEqual([said]);
  });

  test('a file of Assize that does not turn it on', () => {
    for (const own of [{}, { sandbox: null }, { sandbox: { ...sandbox, enabled: 'yes' } }])
      expect(faults({}, own)[0]).toContain('does not turn the sandbox on');
    expect(faults({}, { sandbox: { ...sandbox, excludedCommands: ['sh *'] } })).toHaveLength(1);
  });
});

test('a setting that only narrows the sandbox is not a fault', () => {
  const less = { filesystem: { denyRead: ['/a'], denyWrite: ['/b'] } };
  const network = { deniedDomains: ['a.com'] };
  const credentials = { files: [{ path: '/c', mode: 'deny' }] };
  expect(faults({ sandbox: { ...less, network, credentials, enabled: true } })).toEqual([]);
  expect(faults({ permissions: { allow: ['Bash(ls *)'], deny: ['Edit(/etc/**)'] } })).toEqual([]);
});

test('another sandbox than that of the rules is found', () => {
  expect(isOtherSandbox(sandbox, sandbox)).toBe(false);
  expect(isOtherSandbox({ ...sandbox, credentials: {} }, sandbox)).toBe(false);
  const filesystem = { ...(sandbox['filesystem'] as object), denyRead: ['/home/ada'] };
  for (const other of [undefined, {}, { ...sandbox, filesystem }])
    expect(isOtherSandbox(other, sandbox)).toBe(true);
});
