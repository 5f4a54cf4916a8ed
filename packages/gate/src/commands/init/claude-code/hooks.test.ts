import { expect, test } from 'vitest';
import { difference } from '../difference.ts';
import {
  missingEvents,
  programIn,
  QUESTIONS,
  REPORTS,
  type Settings,
  tokensIn,
  withHooks,
  withoutHooks,
} from './hooks.ts';

const PROGRAM = ['/usr/bin/node', '/opt/a b/assize.js'];
const TERMS = {
  program: PROGRAM,
  url: 'http://127.0.0.1:4517',
  trajectory: 'calls',
  token: 'asz_1',
  wait: 20,
} as const;
const REFUSAL = 'Assize: the hook of this call failed. Run assize init claude-code --check.';
const terms = { ...TERMS, pending: 'deny', confirm: 'never' } as const;
const lint = { matcher: 'Edit', hooks: [{ type: 'command', command: 'lint' }] };
const settings: Settings = {
  model: 'x',
  env: { A: '1' },
  hooks: { PreToolUse: [lint], Stop: [lint] },
};

test('hooks are added beside others, and taken out again', () => {
  const added = withHooks(settings, terms);
  expect(added).toMatchObject({ model: 'x', env: { A: '1', NO_PROXY: '127.0.0.1,localhost' } });
  const { PreToolUse } = added['hooks'] as { PreToolUse: unknown[] };
  expect(PreToolUse).toMatchObject([
    lint,
    {
      hooks: [
        {
          type: 'http',
          url: 'http://127.0.0.1:4517/v1/trajectories/calls/hooks/claude-code?wait=20&pending=deny&confirm=never',
          headers: { Authorization: 'Bearer asz_1' },
          timeout: 35,
          onFailure: 'block',
        },
        {
          type: 'command',
          command: `/usr/bin/node '/opt/a b/assize.js' hook claude-code --url http://127.0.0.1:4517 || { echo '${REFUSAL}' >&2; exit 2; }`,
          timeout: 35,
        },
      ],
    },
  ]);
  expect(withoutHooks(added)).toEqual(settings);
  expect(withoutHooks(settings)).toBe(settings);
});

test('hooks that are added again replace the earlier ones', () => {
  const again = withHooks(withHooks(settings, terms), { ...terms, token: 'asz_2' });
  expect(tokensIn(again)).toEqual(['asz_2']);
  expect(again).toEqual(withHooks(settings, { ...terms, token: 'asz_2' }));
});

test('a proxy setting of the person stays', () => {
  const own: Settings = { env: { NO_PROXY: 'example.com' } };
  expect(withHooks(own, terms)['env']).toEqual({ NO_PROXY: 'example.com,127.0.0.1,localhost' });
  expect(withoutHooks(withHooks(own, terms))).toEqual(own);
});

test('a question whose hook is missing or lets calls through is listed', () => {
  const added = JSON.parse(JSON.stringify(withHooks({}, terms))) as {
    hooks: Record<string, { hooks: { onFailure: string }[]; matcher?: string }[]>;
  };
  expect(missingEvents(added)).toEqual([]);
  expect(missingEvents({})).toEqual(expect.arrayContaining(QUESTIONS));
  added.hooks['PreToolUse']![0]!.hooks[0]!.onFailure = 'continue';
  added.hooks['Elicitation']![0]!.matcher = 'other';
  delete added.hooks['ConfigChange'];
  added.hooks['PermissionRequest']![0]!.hooks.pop();
  expect(missingEvents(added)).toEqual([
    'PreToolUse',
    'PermissionRequest',
    'ConfigChange',
    'Elicitation',
  ]);
  expect(programIn(added)).toEqual(PROGRAM);
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
    expect(tokensIn({ hooks })).toEqual([]);
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
