import { expect, test } from 'vitest';
import { difference } from '../difference.ts';
import {
  missingEvents,
  QUESTIONS,
  REPORTS,
  type Settings,
  termsIn,
  withHooks,
  withoutHooks,
} from './hooks.ts';

const PROGRAM = ['/usr/bin/node', '/opt/a b/assize.js'];
const terms = {
  program: PROGRAM,
  url: 'http://127.0.0.1:4517',
  trajectory: 'calls',
  tokenFile: '/home/ada/.assize/claude-code.token',
  wait: 20,
  pending: 'deny',
  confirm: 'never',
} as const;
const LINE =
  "/usr/bin/node '/opt/a b/assize.js' hook claude-code --url http://127.0.0.1:4517 --token-file /home/ada/.assize/claude-code.token --trajectory calls --wait 20 --pending deny --confirm never";
const lint = { matcher: 'Edit', hooks: [{ type: 'command', command: 'lint' }] };
const settings: Settings = {
  model: 'x',
  env: { A: '1' },
  hooks: { PreToolUse: [lint], Stop: [lint] },
};

test('hooks are added beside others, and taken out again', () => {
  const added = withHooks(settings, terms);
  expect(added).toMatchObject({ model: 'x', env: { A: '1' } });
  const { PreToolUse, PostToolUse } = added['hooks'] as Record<string, unknown[]>;
  const hook = { type: 'command', command: LINE };
  expect(PreToolUse).toEqual([lint, { hooks: [{ ...hook, timeout: 35, onFailure: 'block' }] }]);
  expect(PostToolUse).toEqual([{ hooks: [{ ...hook, timeout: 15, onFailure: 'continue' }] }]);
  expect(termsIn(added)).toEqual(terms);
  expect(withoutHooks(added)).toEqual(settings);
  expect(withoutHooks(settings)).toBe(settings);
});

test('hooks that are added again replace the earlier ones', () => {
  const other = { ...terms, rules: '/home/ada/.assize/assize.yaml' };
  const url = 'http://h/v1/trajectories/calls/hooks/claude-code?wait=20';
  const http = { hooks: { PreToolUse: [{ hooks: [{ type: 'http', url }] }] } };
  expect(withHooks(withHooks(settings, terms), other)).toEqual(withHooks(settings, other));
  expect(withHooks(http, terms)).toEqual(withHooks({}, terms));
});

test('a sandbox goes with the hooks, and one of the person stays', () => {
  const own = { ...terms, sandbox: '/repo/.claude/settings.local.json', sandboxDigest: 'd1' };
  const variables = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_VALUE_0: '/info/assize-mount-points' };
  const added = withHooks(settings, own, { sandbox: { enabled: true }, variables });
  expect(added).toMatchObject({ sandbox: { enabled: true }, env: variables });
  expect(termsIn(added)).toEqual(own);
  expect(withoutHooks(added)).toEqual(settings);
  const theirs = { ...settings, sandbox: { enabled: false } };
  expect(withoutHooks(withHooks(theirs, terms))).toEqual(theirs);
});

test('a question whose hook is missing or lets calls through is listed', () => {
  const added = JSON.parse(JSON.stringify(withHooks({}, terms))) as {
    hooks: Record<string, { hooks: { onFailure: string; command: string }[]; matcher?: string }[]>;
  };
  expect(missingEvents(added)).toEqual([]);
  expect(missingEvents({})).toEqual(expect.arrayContaining(QUESTIONS));
  added.hooks['PreToolUse']![0]!.hooks[0]!.onFailure = 'continue';
  added.hooks['Elicitation']![0]!.matcher = 'other';
  delete added.hooks['ConfigChange'];
  added.hooks['PermissionRequest']![0]!.hooks[0]!.command += ' || true';
  expect(missingEvents(added)).toEqual([
    'PreToolUse',
    'PermissionRequest',
    'ConfigChange',
    'Elicitation',
  ]);
});

test('settings of any form have no hooks of Assize', () => {
  for (const hooks of [
    null,
    1,
    'x',
    [],
    { PreToolUse: null },
    { PreToolUse: [null, 1, { hooks: null }] },
  ]) {
    expect(termsIn({ hooks })).toBeUndefined();
    expect(withoutHooks({ hooks })).toEqual({ hooks });
    expect(missingEvents({ hooks })).toHaveLength(QUESTIONS.length + REPORTS.length);
    expect(missingEvents(withHooks({ hooks, env: null }, terms))).toEqual([]);
  }
});

test('a difference has the lines that were removed and added, in order', () => {
  expect(difference('a\nb\nc', 'a\nx\nc\nd')).toEqual(['+ x', '- b', '+ d']);
  expect(difference('a', 'a')).toEqual([]);
  expect(difference('', 'a')).toEqual(['+ a']);
});
