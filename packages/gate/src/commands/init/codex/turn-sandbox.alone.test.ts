import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { turnFaults } from './turn-sandbox.ts';

const entry = (path: object, access: string) => ({ path, access });
const ENTRIES = [
  entry({ type: 'special', value: { kind: 'minimal' } }, 'read'),
  entry({ type: 'path', path: '/repo' }, 'write'),
  entry({ type: 'glob_pattern', pattern: '/repo/**/.env' }, 'deny'),
];
const CONFIG = `default_permissions = "assize"
permissions.assize.filesystem.glob_scan_max_depth = 100
permissions.assize.filesystem.":minimal" = "read"
permissions.assize.filesystem."/repo" = "write"
permissions.assize.filesystem."/repo/**/.env" = "deny"
permissions.assize.network.enabled = false
`;

const sandboxed = (
  entries: readonly object[],
  network = 'restricted',
  glob_scan_max_depth = 100,
) => {
  const file_system = { type: 'restricted', entries, glob_scan_max_depth };
  return { permission_profile: { type: 'managed', file_system, network } };
};
const turn = (more: object, turn_id = 't1') => ({
  type: 'turn_context',
  payload: { turn_id, ...more },
});

/** `rules`: those of Codex beside the configuration, in a file of this name. */
function faults(
  lines: readonly object[],
  config: string = CONFIG,
  rules?: readonly [string, string],
): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'assize-turn-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  vi.stubEnv('CODEX_HOME', join(folder, 'home'));
  for (const name of ['rules', 'home/rules']) mkdirSync(join(folder, name), { recursive: true });
  if (rules !== undefined) writeFileSync(join(folder, rules[0]), rules[1]);
  const [file, transcript_path] = [join(folder, 'config.toml'), join(folder, 'a.jsonl')];
  writeFileSync(file, config);
  writeFileSync(transcript_path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return turnFaults({ turn_id: 't1', transcript_path }, file);
}

const OPENED = [expect.stringContaining('does not run in the sandbox of')];

test('a turn in the sandbox of the configuration has no fault', () => {
  expect(faults([turn(sandboxed(ENTRIES))])).toEqual([]);
  expect(faults([turn(sandboxed([]), 't0'), turn(sandboxed(ENTRIES.toReversed()))])).toEqual([]);
});

test.each([
  ['no turn', []],
  ['only another turn', [turn(sandboxed(ENTRIES), 't2')]],
  ['no sandbox', [turn({ permission_profile: { type: 'disabled' } })]],
  ['no sandbox since', [turn(sandboxed(ENTRIES)), turn({ permission_profile: null })]],
  ['one place less', [turn(sandboxed(ENTRIES.slice(1)))]],
  ['one place more', [turn(sandboxed([...ENTRIES, entry({ path: '/tmp' }, 'write')]))]],
  [
    'another access',
    [turn(sandboxed([...ENTRIES.slice(0, 2), { ...ENTRIES[2], access: 'read' }]))],
  ],
  ['less depth', [turn(sandboxed(ENTRIES, 'restricted', 1))]],
  ['the network', [turn(sandboxed(ENTRIES, 'enabled'))]],
])('a turn with %s is refused', (_, lines) => expect(faults(lines)).toEqual(OPENED));

test('another line with the words of a turn does not count', () => {
  const said = { type: 'turn_context', turn_id: 't1' };
  const other = { type: 'event_msg', payload: { turn_id: 't1', said } };
  expect(faults([turn(sandboxed(ENTRIES)), other])).toEqual([]);
});

test.each([
  ['rules/a.rules', 'prefix_rule(pattern=["npm"])'],
  ['home/rules/default.rules', 'prefix_rule(pattern=["npm"], decision="allow")'],
  ['rules/.a.rules', '# decision="prompt"\nprefix_rule(pattern=["npm"])'],
  ['rules/c.rules', 'network_rule(host="a.com", protocol="https", decision="allow")'],
])('the rules %s of Codex let commands out', (name, text) => {
  const found = faults([turn(sandboxed(ENTRIES))], CONFIG, [name, text]);
  expect(found).toEqual([expect.stringContaining(`${name} lets commands out of the sandbox`)]);
});

test('rules of Codex that refuse or ask let nothing out', () => {
  const text = `# prefix_rule(pattern=["a"])
prefix_rule(pattern=["a"], decision="prompt")
prefix_rule(pattern=["b"], decision = 'forbidden')
`;
  const lines = [turn(sandboxed(ENTRIES))];
  expect(faults(lines, CONFIG, ['rules/a.rules', text])).toEqual([]);
  expect(faults(lines, CONFIG, ['rules/a.txt', 'prefix_rule(pattern=["a"])'])).toEqual([]);
});

test('a configuration without the profile, and no transcript, are refused', () => {
  expect(faults([turn({})], '')).toEqual(OPENED);
  expect(faults([turn(sandboxed(ENTRIES))], 'default_permissions = "assize"\n')).toEqual(OPENED);
  expect(turnFaults({ turn_id: 't1', transcript_path: null }, '/none')).toEqual([
    expect.stringContaining('keeps no transcript'),
  ]);
});
