import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

const sandboxed = (entries: readonly object[], network = 'restricted') => ({
  permission_profile: { type: 'managed', file_system: { type: 'restricted', entries }, network },
});
const turn = (more: object, turn_id = 't1') => ({
  type: 'turn_context',
  payload: { turn_id, ...more },
});

function faults(lines: readonly object[], config: string = CONFIG): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'assize-turn-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
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
  ['the network', [turn(sandboxed(ENTRIES, 'enabled'))]],
])('a turn with %s is refused', (_, lines) => expect(faults(lines)).toEqual(OPENED));

test('a configuration without the profile, and no transcript, are refused', () => {
  expect(faults([turn({})], '')).toEqual(OPENED);
  expect(faults([turn(sandboxed(ENTRIES))], 'default_permissions = "assize"\n')).toEqual(OPENED);
  expect(turnFaults({ turn_id: 't1', transcript_path: null }, '/none')).toEqual([
    expect.stringContaining('keeps no transcript'),
  ]);
});
