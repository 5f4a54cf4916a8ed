import { describe, expect, test } from 'vitest';
import { hookTermsIn as termsIn } from '../agents/hook-command.ts';
import { parsedConfig, trustOf, withBlock, withoutBlock, withoutTrust } from './config-text.ts';
import { configuredFaults, configuredHooks } from './faults.ts';
import { commandOf, hooksText, trustText } from './hooks.ts';

const PATH = '/home/ada/.codex/config.toml';
const TERMS = {
  program: ['/opt/node', "/home/ada's/main.js"],
  url: 'http://127.0.0.1:4517',
  trajectory: 'calls',
  tokenFile: '/home/ada/.assize/codex.token',
  wait: 20,
};
const HASHES = {
  [`${PATH}:pre_tool_use:0:0`]: 'sha256:00',
  [`${PATH}:session_end:0:0`]: 'sha256:11',
};

const own = (text: string): string =>
  withBlock(
    withBlock(text, 'hooks', hooksText(TERMS), PATH),
    trustOf(PATH),
    trustText(HASHES),
    PATH,
  );
const without = (text: string): string =>
  withoutBlock(withoutBlock(text, trustOf(PATH), PATH), 'hooks', PATH);

describe('the blocks of Assize leave the text of the person as it is', () => {
  test.each<[string, string]>([
    ['an empty file', ''],
    ['comments and order', '# mine\nmodel = "x"   # a comment\n\n[tools]\nweb_search = true\n'],
    [
      'other hooks',
      '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "a"\n',
    ],
    ['other trust', '[hooks.state."/x:pre_tool_use:0:0"]\ntrusted_hash = "sha256:22"\n'],
    ['an empty line at the end', 'model = "x"\n\n'],
  ])('%s', (_, text) => {
    const written = own(text);
    expect(written.startsWith(text)).toBe(true);
    expect(parsedConfig(written, PATH)['hooks']).toMatchObject({
      state: { [`${PATH}:pre_tool_use:0:0`]: {} },
    });
    expect(own(written)).toBe(written);
    expect(without(written)).toBe(text);
  });

  test('a file without a last line end', () => {
    expect(without(own('model = "x"'))).toBe('model = "x"\n');
  });

  test('tables after the blocks, and lines of others in them, stay', () => {
    const later = '\n[projects."/a"]\ntrust_level = "trusted"\n';
    expect(without(`${own('a = 1\n')}${later}`)).toContain(later);
    const inside = '[hooks.state."/x:stop:0:0"]\nenabled = false\n';
    const mixed = own('a = 1\n').replace(
      '[[hooks.PermissionRequest]]',
      `${inside}\n[[hooks.PermissionRequest]]`,
    );
    expect(without(mixed)).toContain(inside);
    expect(without(mixed)).not.toContain('Assize');
  });
});

test('hooks in a form that no block can follow are refused', () => {
  for (const text of ['hooks = {}\n', '[hooks]\nPreToolUse = []\n', 'not toml'])
    expect(() => own(text), text).toThrow(/is not TOML|in a form/);
});

test('a block without its end is refused', () => {
  expect(() => without(own('').replace('# <<< Assize\n', '').replace('# <<< Assize', ''))).toThrow(
    'has no line',
  );
});

test('trust that Codex wrote for these hooks makes place', () => {
  const key = `${PATH}:pre_tool_use:0:0`;
  const text = `a = 1\n[hooks.state."${key}"]\ntrusted_hash = "sha256:99"\n\n[b]\nc = 1\n`;
  expect(withoutTrust(text, [key])).toBe('a = 1\n[b]\nc = 1\n');
});

test('the command of a hook says how it reaches the server', () => {
  expect(termsIn(commandOf('PreToolUse', TERMS))).toEqual(TERMS);
  expect(termsIn(commandOf('Stop', { ...TERMS, trajectory: 'a b' }))).toEqual({
    ...TERMS,
    trajectory: 'a b',
  });
  expect(termsIn('true')).toBeUndefined();
});

describe('the check of a configuration tells', () => {
  const faultsOf = (change: (text: string) => string): string[] =>
    configuredFaults(PATH, configuredHooks(parsedConfig(change(hooksText(TERMS)), PATH)));
  test('of no fault', () => expect(faultsOf((text) => text)).toEqual([]));
  test.each<[string, (text: string) => string]>([
    ['lacks the hooks of PreToolUse', (text) => text.replaceAll('hooks.PreToolUse', 'hooks.Other')],
    ['command of PreToolUse', (text) => text.replace('exit 2', 'exit 0')],
    [
      'has a matcher',
      (text) => text.replace('[[hooks.PreToolUse]]', '[[hooks.PreToolUse]]\nmatcher = "Bash"'),
    ],
    ['needs a timeout of 60', (text) => text.replace('timeout = 60', 'timeout = 20')],
    ['lacks the hooks', () => ''],
  ])('%s', (fault, change) => expect(faultsOf(change).join('\n')).toContain(fault));
});
